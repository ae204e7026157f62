"""The post office: what travels between a client and the hall, not what it means.

Envelopes, codes, codec and limits. Game events and views pass through as raw JSON: this package knows no game and
imports nothing that does I/O.
"""
