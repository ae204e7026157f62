"""The rule book: the games, their decks and their records. Pure and synchronous.

Nothing below this package does I/O, reads a clock, logs, or draws from a global generator; decks,
generators and answers are arguments. ``engine.game`` is the contract, ``engine.registry`` the list of games.
"""
