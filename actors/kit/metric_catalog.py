"""Every metric of the service, one row each: collectors, docs/metrics.md, the dashboard's and the alerts' tests derive from the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily


class MetricType(StrEnum):
    """Type of a metric as `# TYPE` says it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric."""

    name: str  # as `# TYPE` says it, a counter without `_total`
    type: MetricType
    unit: str  # of the value as the page shows it; "1" is a pure number
    help: str  # one sentence
    labels: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """Name of the sample: a counter's ends in `_total`."""
        return f"{self.name}_total" if self.type is MetricType.COUNTER else self.name

    @property
    def samples(self) -> Mapping[str, tuple[str, ...]]:
        """Names of all samples with their labels: a histogram has three."""
        if self.type is not MetricType.HISTOGRAM:
            return MappingProxyType({self.shown: self.labels})
        return MappingProxyType(
            {
                f"{self.name}_bucket": (*self.labels, "le"),
                f"{self.name}_sum": self.labels,
                f"{self.name}_count": self.labels,
            }
        )


# Labels: what a value of each stands for.
LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "device_id": "id of a device, `049D`",
        "type": "type of a device in neutral words, `arm`",
        "phase": "phase of a device's life: `connecting`, `settling`, `ready`, `asleep`, `disconnected` or `failed`",
        "step": "step of a tick: `read`, `arbiter`, `filter`, `monitor`, `clamp`, `torque`, `output` or `publish`",
        "port": "base name of a port, `ttyACM0`",
        "actor": "name of an actor before the first `/`: `device` for `device/049D`",
        "reason": "why a message was lost: `full` (the mailbox) or `ended` (the actor)",
        "kind": "name of an event, `device-connected`",
        "by": "what changed a force: `filter`, `damper` or `monitors`",
        "version": "version of the service, `3.5.3.1`",
        "interface": "version of the interface that it speaks, `3.5.3`",
        "commit": "commit that it was built from, as git describes it; empty without one",
        "le": "upper bound of a bucket",
    }
)

_C, _G, _H = MetricType.COUNTER, MetricType.GAUGE, MetricType.HISTOGRAM
_DEVICE, _PORT, _ACTOR = ("device_id",), ("port",), ("actor",)
_BUILD = ("version", "interface", "commit")

_NOW: Final[Mapping[str, tuple[MetricRow, ...]]] = MappingProxyType(
    {
        "Service": (
            MetricRow("hapticd_build_info", _G, "1", "Version, interface and commit of the service.", _BUILD),
            MetricRow("hapticd_ready", _G, "0 or 1", "1 while /readyz answers 200."),
            MetricRow(
                "hapticd_state_write_failed",
                _G,
                "0 or 1",
                "1 while the last write of the state directory's ledger failed.",
            ),
            MetricRow("hapticd_failsafe_restarts", _C, "times", "Times that the failsafe process was started again."),
            MetricRow("hapticd_log_lines_dropped", _C, "lines", "Lines of the log that were dropped: nobody read it."),
        ),
        "Control loop": (
            MetricRow("hapticd_loop_frequency_hertz", _G, "Hz", "Ticks per second over the last second."),
            MetricRow("hapticd_loop_target_frequency_hertz", _G, "Hz", "Ticks per second that the loop is asked for."),
            MetricRow("hapticd_loop_ticks", _C, "ticks", "Ticks that ran."),
            MetricRow(
                "hapticd_loop_ticks_missed", _C, "ticks", "Ticks that came a whole period late and were skipped."
            ),
            MetricRow(
                "hapticd_loop_gaps",
                _C,
                "gaps",
                "Interruptions of more than 20 ms, after which output grows again from zero.",
            ),
            MetricRow("hapticd_loop_dead_man_trips", _C, "trips", "Times that the timekeeper was silent for 500 ms."),
            MetricRow("hapticd_loop_realtime", _G, "0 or 1", "1 when the loop runs under SCHED_FIFO."),
            MetricRow("hapticd_loop_pinned", _G, "0 or 1", "1 when the loop has a processor of its own."),
            MetricRow("hapticd_loop_memory_locked", _G, "0 or 1", "1 when the memory that the loop touches is locked."),
            MetricRow("hapticd_loop_spin_margin_seconds", _G, "s", "How long the loop spins before each deadline."),
            MetricRow("hapticd_loop_lateness_max_seconds", _G, "s", "Latest wake-up since the start."),
            MetricRow("hapticd_loop_lateness_seconds", _H, "s", "How late ticks began."),
            MetricRow("hapticd_loop_tick_seconds", _G, "s", "Mean cost of a tick, one in 64 sampled."),
            MetricRow("hapticd_loop_step_seconds", _G, "s", "Mean cost of a step of all devices.", ("step",)),
        ),
        "Devices": (
            MetricRow("hapticd_devices", _G, "devices", "Devices, by type and phase.", ("type", "phase")),
            MetricRow(
                "hapticd_device_stopped", _G, "0 or 1", "1 while the stop latch holds a device at zero output.", _DEVICE
            ),
            MetricRow(
                "hapticd_device_silences",
                _C,
                "times",
                "Times that a device sent nothing new for 20 ms, since the service started.",
                _DEVICE,
            ),
            MetricRow(
                "hapticd_device_battery_ratio", _G, "0 to 1", "Charge of a wireless device that shows it.", _DEVICE
            ),
            MetricRow("hapticd_force_clamped_ticks", _C, "ticks", "Ticks whose force was over the peak.", _DEVICE),
            MetricRow("hapticd_commands_timed_out", _C, "commands", "Commands that went stale and faded.", _DEVICE),
            MetricRow("hapticd_torque_saturated_ticks", _C, "ticks", "Ticks at a motor's limit.", _DEVICE),
            MetricRow(
                "hapticd_oscillations",
                _C,
                "times",
                "Times that an axis was found to oscillate: it was damped, or its gain lowered.",
                _DEVICE,
            ),
            MetricRow(
                "hapticd_stability_ceilings", _C, "times", "Times that relapses lowered the gain's ceiling.", _DEVICE
            ),
            MetricRow("hapticd_ebrakes", _C, "times", "Times that the e-brake was triggered.", _DEVICE),
            MetricRow(
                "hapticd_stalls", _C, "times", "Times that a device pushed hard without motion for 2 s.", _DEVICE
            ),
            MetricRow("hapticd_thermal_deratings", _C, "times", "Times that hot motors began to be limited.", _DEVICE),
            MetricRow("hapticd_grip_drops", _C, "times", "Times that a paired grip was let go for too long.", _DEVICE),
            MetricRow(
                "hapticd_foreign_object_stages", _C, "changes", "Changes of the stage of a foreign object.", _DEVICE
            ),
            MetricRow(
                "hapticd_oscillation_severity_ratio", _G, "0 to 1", "Share of the force that the filter takes.", _DEVICE
            ),
            MetricRow("hapticd_motor_temperature_celsius", _G, "°C", "Hottest winding, by the motors' model.", _DEVICE),
            MetricRow(
                "hapticd_motor_derating_ratio",
                _G,
                "0 to 1",
                "Share of the torque limit that heat leaves, 1: all.",
                _DEVICE,
            ),
            MetricRow(
                "hapticd_external_force_newtons", _G, "N", "Push that neither motors nor weight explain.", _DEVICE
            ),
            MetricRow("hapticd_force_seconds", _C, "s", "Time in which a device's output was not zero.", _DEVICE),
            MetricRow(
                "hapticd_force_interrupted_seconds",
                _C,
                "s",
                "Time with force in which a gap of the loop left the motors without it.",
                _DEVICE,
            ),
            MetricRow(
                "hapticd_force_taken_newtonseconds",
                _C,
                "N·s",
                "What filter, damper and monitors took from the commanded force.",
                ("device_id", "by"),
            ),
            MetricRow(
                "hapticd_force_added_newtonseconds",
                _C,
                "N·s",
                "What filter, damper and monitors added to the commanded force.",
                ("device_id", "by"),
            ),
            MetricRow("hapticd_force_gap_seconds", _H, "s", "Gaps between two ticks of a device, above 2 ms.", _DEVICE),
        ),
        "Ports": (
            MetricRow("hapticd_port_blocked", _G, "0 or 1", "1 while the port is kept closed.", _PORT),
            MetricRow("hapticd_port_unusable", _G, "0 or 1", "1 while the port cannot be used.", _PORT),
            MetricRow("hapticd_port_loops", _G, "loops", "Drops and reconnections that count now.", _PORT),
            MetricRow("hapticd_port_open", _G, "1", "1 while a link to real devices is open.", _PORT),
            MetricRow(
                "hapticd_port_frames_received",
                _C,
                "packets",
                "Whole packets that arrived since the link was opened.",
                _PORT,
            ),
            MetricRow(
                "hapticd_port_frames_bad",
                _C,
                "packets",
                "Packets that were not whole, and bytes that were none.",
                _PORT,
            ),
            MetricRow(
                "hapticd_port_frames_sent", _C, "packets", "Packets that were sent since the link was opened.", _PORT
            ),
            MetricRow(
                "hapticd_port_bytes_received", _C, "bytes", "Bytes that arrived since the link was opened.", _PORT
            ),
            MetricRow("hapticd_port_bytes_sent", _C, "bytes", "Bytes that were sent since the link was opened.", _PORT),
            MetricRow(
                "hapticd_port_orders_late",
                _C,
                "orders",
                "Orders of the loop that were too old, so that zero force was sent.",
                _PORT,
            ),
            MetricRow(
                "hapticd_port_errors", _C, "errors", "Reads and writes that failed since the link was opened.", _PORT
            ),
        ),
        "Sessions": (
            MetricRow("hapticd_sessions_open", _G, "sessions", "Sessions with an open connection."),
            MetricRow("hapticd_frames_sent", _C, "frames", "Frames sent to all sessions."),
            MetricRow("hapticd_commands_received", _C, "messages", "Messages received from all sessions."),
            MetricRow("hapticd_input_faults", _C, "faults", "Faulty parts in messages from sessions."),
        ),
        "Events": (
            MetricRow("hapticd_events", _C, "events", "Events sent, by kind.", ("kind",)),
            MetricRow(
                "hapticd_events_held_back",
                _C,
                "events",
                "Events that throttling merged or dropped, by kind.",
                ("kind",),
            ),
            MetricRow("hapticd_events_dropped", _C, "events", "Events that a subscriber lost because it did not read."),
            MetricRow("hapticd_event_subscribers", _G, "subscribers", "Subscribers of the event hub."),
            MetricRow("hapticd_event_subscribers_lost", _C, "subscribers", "Subscribers dropped because they failed."),
        ),
        "Actors": (
            MetricRow("hapticd_actor_restarts", _C, "restarts", "Actors started again after a crash.", _ACTOR),
            MetricRow(
                "hapticd_actors_given_up", _C, "actors", "Actors that crashed too often to be started again.", _ACTOR
            ),
            MetricRow(
                "hapticd_messages_dropped",
                _C,
                "messages",
                "Messages lost in a mailbox, full or of an ended actor.",
                ("actor", "reason"),
            ),
            MetricRow(
                "hapticd_messages_unknown", _C, "messages", "Messages that the actor has no handler for.", _ACTOR
            ),
            MetricRow("hapticd_tells_to_nobody", _C, "messages", "Messages to a name without a living actor.", _ACTOR),
            MetricRow("hapticd_busy_answers", _C, "answers", "Asks that were answered with Busy.", _ACTOR),
        ),
        # Of prometheus_client's ProcessCollector, whose help texts these are.
        "Process": tuple(
            MetricRow(f"process_{name}", kind, unit, says)
            for name, kind, unit, says in (
                ("cpu_seconds", _C, "s", "Total user and system CPU time spent in seconds."),
                ("resident_memory_bytes", _G, "bytes", "Resident memory size in bytes."),
                ("virtual_memory_bytes", _G, "bytes", "Virtual memory size in bytes."),
                ("open_fds", _G, "descriptors", "Number of open file descriptors."),
                ("max_fds", _G, "descriptors", "Maximum number of open file descriptors."),
                ("start_time_seconds", _G, "s since 1970", "Start time of the process since unix epoch in seconds."),
            )
        ),
    }
)
# Old name -> name, for the metrics whose old names go with the next release.
OLD_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "hapticd_loop_frequency_hz": "hapticd_loop_frequency_hertz",
        "hapticd_loop_target_frequency_hz": "hapticd_loop_target_frequency_hertz",
        "hapticd_oscillation_severity": "hapticd_oscillation_severity_ratio",
        "hapticd_motor_derating": "hapticd_motor_derating_ratio",
        **{f"hapticd_{row.name}": row.name for row in _NOW["Process"]},
    }
)


def _old(name: str, now: str) -> MetricRow:
    row = next(row for rows in _NOW.values() for row in rows if row.name == now)
    return replace(row, name=name, help=f"Old name of {row.shown}, which goes with the next release.")


SUBJECTS: Final[Mapping[str, tuple[MetricRow, ...]]] = MappingProxyType(
    {**_NOW, "Old names": tuple(_old(name, now) for name, now in OLD_NAMES.items())}
)
METRIC_ROWS: Final[Mapping[str, MetricRow]] = MappingProxyType(
    {row.name: row for rows in SUBJECTS.values() for row in rows}
)


def gauge(name: str, value: float | None = None) -> GaugeMetricFamily:
    """Return the family of a gauge, with its value if it has no labels; KeyError for a name without a row."""
    row = METRIC_ROWS[name]
    return GaugeMetricFamily(name, row.help, value=None if row.labels else value, labels=row.labels or None)


def counter(name: str, value: float | None = None) -> CounterMetricFamily:
    """Return the family of a counter, with its value if it has no labels; KeyError for a name without a row."""
    row = METRIC_ROWS[name]
    return CounterMetricFamily(name, row.help, value=None if row.labels else value, labels=row.labels or None)


def histogram(name: str) -> HistogramMetricFamily:
    """Return the empty family of a histogram; KeyError for a name without a row."""
    row = METRIC_ROWS[name]
    return HistogramMetricFamily(name, row.help, labels=row.labels or None)
