"""Programs that measure, and print what they find. Nothing here is installed with the server."""
