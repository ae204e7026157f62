"""The floor: the least that a server must do that keeps every move before it shows it, and nothing else.

Decode a command, append to a log by compare-and-set in a store of its own process, encode an event of 1.1 KB, write it
to every seat. No rules, no redaction, no limits, no second node. What anything costs is told as a ratio to it.
"""
