"""``fudaza bench``: a load generator that plays at a server's tables and says what a move costs.

``figures`` and ``schedule`` are arithmetic, ``processes`` reads the machine's accounts, ``line`` is a connection,
``room`` a table at which nobody thinks, ``load`` all of them and the measurement, ``report`` what came out, ``plot``
its picture, and ``command`` the command line with every word.
"""
