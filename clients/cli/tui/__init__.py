"""The full-screen table: one of the three faces of a session, for terminals."""
