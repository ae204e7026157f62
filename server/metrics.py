"""What is counted. Children are bound once: counting costs a microsecond. No label ever holds a name, code or card."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_STORE_BUCKETS: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_THINK_BUCKETS: Final = (0.0005, 0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """All metrics of one node, in a registry of its own so that several nodes fit into one process of tests."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.connections = Gauge("fudaza_connections", "Open connections.", registry=registry)
        self.rooms = Gauge("fudaza_rooms_loaded", "Rooms held in memory by this node.", registry=registry)
        self.driven = Gauge(
            "fudaza_rooms_driven", "Loaded rooms whose clock and AI this node drives.", registry=registry
        )
        self.loop_lag = Gauge("fudaza_loop_lag_seconds", "How late the event loop's last tick was.", registry=registry)
        self._commands = Counter(
            "fudaza_commands_total", "Commands by what became of them.", ("command", "outcome"), registry=registry
        )
        self._bound: dict[tuple[str, str], Counter] = {}
        self.entries = Counter("fudaza_entries_total", "Entries appended by this node.", registry=registry)
        self.append_seconds = Histogram(
            "fudaza_append_seconds", "From append to answer.", buckets=_STORE_BUCKETS, registry=registry
        )
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
        self.frames_encoded = Counter("fudaza_frames_encoded_total", "Frames encoded.", registry=registry)
        self.frames_written = Counter("fudaza_frames_written_total", "Frames written to sockets.", registry=registry)
        self.overflows = Counter(
            "fudaza_outbox_overflows_total", "Connections cut because they did not read.", registry=registry
        )
        self.turned_away = Counter(
            "fudaza_sockets_turned_away_total", "Sockets that were one too many.", registry=registry
        )
        self.floods = Counter("fudaza_floods_total", "Connections ended for too many frames.", registry=registry)
        self.strikes = Counter("fudaza_strikes_total", "Malformed or too fast commands.", registry=registry)
        self.ai_moves = Counter("fudaza_ai_moves_total", "Moves made by AI.", registry=registry)
        self._ai_fallbacks = Counter(
            "fudaza_ai_fallbacks_total", "Default actions taken instead of an AI's answer.", ("why",), registry=registry
        )
        self.ai_seconds = Histogram(
            "fudaza_ai_seconds", "From question to an AI's answer.", buckets=_THINK_BUCKETS, registry=registry
        )
        self.worker_starts = Counter("fudaza_ai_worker_starts_total", "AI processes started.", registry=registry)
        self.internal_errors = Counter(
            "fudaza_internal_errors_total", "Faults of the server's own; each is in the log.", registry=registry
        )

    def command(self, command: str, outcome: str) -> None:
        """Count a command (its tag) and its outcome (``accepted`` or a refusal's code): both are finite lists."""
        child = self._bound.get((command, outcome))
        if child is None:
            child = self._bound[command, outcome] = self._commands.labels(command, outcome)
        child.inc()

    def ai_fallback(self, why: str) -> None:
        """Count a default action: ``late``, ``crashed``, ``illegal`` or ``busy``."""
        self._ai_fallbacks.labels(why).inc()
