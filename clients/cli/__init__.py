"""A person's client for the terminal: one session core, several faces."""
