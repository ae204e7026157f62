"""The store: any Redis >= 7.0 or Valkey >= 7.2, alone, behind Sentinel, or as a cluster.

``open_store`` connects; ``StoredLog``, ``StoredIndex`` and ``StoredRates`` keep in it what ``server.log``,
``server.index`` and ``server.limits`` promise.
Inside: ``address`` (URLs), ``line`` (one shared connection), ``routes`` (which server has a key), ``client`` (commands,
Functions, errors), ``wakeups`` (pub/sub), ``keys`` (all names).
"""

from __future__ import annotations

from server.store.address import BadAddress, CannotOpen
from server.store.client import Store, open_store
from server.store.index import Bounds, StoredIndex
from server.store.log import StoredLog
from server.store.rates import StoredRates

__all__ = ["BadAddress", "Bounds", "CannotOpen", "Store", "StoredIndex", "StoredLog", "StoredRates", "open_store"]
