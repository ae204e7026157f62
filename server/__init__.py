"""The hall: authoritative rooms behind WebSockets, their logs in a Redis-protocol store, AI in the empty seats."""
