"""What is counted. No label ever holds a name, code or card.

What every move counts several times is kept as plain numbers, and made metrics of when somebody asks: the library's own
counters take a lock each time, which added up to a tenth of a move. They are counted on the event loop's thread alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_STORE_BUCKETS: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_THINK_BUCKETS: Final = (0.0005, 0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Tally(Collector):
    """A counter of what is counted often."""

    def __init__(self, name: str, documentation: str, registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._count = 0
        registry.register(self)

    def inc(self, amount: int = 1) -> None:
        """Count so many more."""
        self._count += amount

    def collect(self) -> Iterator[Metric]:
        """For the registry."""
        yield CounterMetricFamily(self._name, self._documentation, self._count)


class Spread(Collector):
    """A histogram of what is measured often; ``bounds`` ascend, in the unit of what is measured."""

    def __init__(self, name: str, documentation: str, bounds: Sequence[float], registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, value: float) -> None:
        """Count ``value`` where it belongs."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def collect(self) -> Iterator[Metric]:
        """For the registry."""
        buckets = []
        total = 0
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        yield HistogramMetricFamily(self._name, self._documentation, buckets, self._sum)


class Outcomes(Collector):
    """Counters of commands by what became of them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        registry.register(self)

    def inc(self, command: str, outcome: str) -> None:
        """Count one more."""
        key = command, outcome
        self._counts[key] = self._counts.get(key, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """For the registry."""
        family = CounterMetricFamily(
            "fudaza_commands", "Commands by what became of them.", labels=("command", "outcome")
        )
        for labels, count in tuple(self._counts.items()):  # asked for on another thread
            family.add_metric(labels, count)
        yield family


class Metrics:
    """All metrics of one node, in a registry of its own so that several nodes fit into one process of tests."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.connections = Gauge("fudaza_connections", "Open connections.", registry=registry)
        self.rooms = Gauge("fudaza_rooms_loaded", "Rooms held in memory by this node.", registry=registry)
        self.driven = Gauge(
            "fudaza_rooms_driven", "Loaded rooms whose clock and AI this node drives.", registry=registry
        )
        self.seats = Gauge(
            "fudaza_seats",
            "Seats of the rooms that this node drives, by who holds them.",
            ("holder",),
            registry=registry,
        )
        self.tasks = Gauge("fudaza_tasks", "Tasks of the event loop.", registry=registry)
        self.loop_lag = Gauge("fudaza_loop_lag_seconds", "How late the event loop's last tick was.", registry=registry)
        self._commands = Outcomes(registry)
        self.entries = Tally("fudaza_entries", "Entries appended by this node.", registry)
        self.append_seconds = Spread("fudaza_append_seconds", "From append to answer.", _STORE_BUCKETS, registry)
        self.conflicts = Counter(
            "fudaza_append_conflicts_total", "Appends that another writer was ahead of.", registry=registry
        )
        self.unknown_outcomes = Counter(
            "fudaza_append_unknown_total", "Appends whose answer was lost.", registry=registry
        )
        self.reloads = Counter(
            "fudaza_room_reloads_total",
            "Rooms read anew because the log was no longer what was read.",
            registry=registry,
        )
        self.frames_encoded = Tally("fudaza_frames_encoded", "Frames encoded.", registry)
        self.frames_written = Tally("fudaza_frames_written", "Frames written to sockets.", registry)
        self.overflows = Counter(
            "fudaza_outbox_overflows_total", "Connections cut because they did not read.", registry=registry
        )
        self.turned_away = Counter(
            "fudaza_sockets_turned_away_total", "Sockets that were one too many.", registry=registry
        )
        self.floods = Counter("fudaza_floods_total", "Connections ended for too many frames.", registry=registry)
        self.held = Counter(
            "fudaza_frames_held_total", "Frames that waited because of what their address asks.", registry=registry
        )
        self.strikes = Counter("fudaza_strikes_total", "Malformed or too fast commands.", registry=registry)
        self.ai_moves = Counter("fudaza_ai_moves_total", "Moves made by AI.", registry=registry)
        self._ai_fallbacks = Counter(
            "fudaza_ai_fallbacks_total", "Default actions taken instead of an AI's answer.", ("why",), registry=registry
        )
        self.ai_seconds = Histogram(
            "fudaza_ai_seconds", "From question to an AI's answer.", buckets=_THINK_BUCKETS, registry=registry
        )
        self.worker_starts = Counter("fudaza_ai_worker_starts_total", "AI processes started.", registry=registry)
        self.records_given_up = Counter(
            "fudaza_records_given_up_total",
            "Records of deals that were too many to wait for the store.",
            registry=registry,
        )
        self.records_dropped = Counter(
            "fudaza_records_dropped_total",
            "Records of deals that a full archive gave up for newer ones.",
            registry=registry,
        )
        self.due_put_off = Counter(
            "fudaza_due_put_off_total",
            "Rounds of repair that found more rooms overdue than one looks up.",
            registry=registry,
        )
        self.lobby_overflows = Counter(
            "fudaza_lobby_overflows_total",
            "Rooms that dropped out of the lobby because it was full.",
            registry=registry,
        )
        self.orders_missed = Counter(
            "fudaza_orders_missed_total",
            "Orders of operators that were forgotten before they were heard.",
            registry=registry,
        )
        self.internal_errors = Counter(
            "fudaza_internal_errors_total", "Faults of the server's own; each is in the log.", registry=registry
        )

    def command(self, command: str, outcome: str) -> None:
        """Count a command (its tag) and its outcome (``accepted`` or a refusal's code): both are finite lists."""
        self._commands.inc(command, outcome)

    def ai_fallback(self, why: str) -> None:
        """Count a default action: ``illegal``, or one of ``thinkers.Missed``."""
        self._ai_fallbacks.labels(why).inc()
