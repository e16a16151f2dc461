"""Settings rows of the core, in the order of the reference page; each driver adds its own (`transport/settings_catalog.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from actors.settings.builders import ADDRESS, HOST, ORIGIN, PORT, choice, flag, real, texts, whole
from actors.settings.detection_rows import detection
from actors.settings.key_lookup import Catalog
from actors.settings.messages import Constraint
from actors.settings.schema import Setting, TypeHint
from actors.values.kinds.registry import specs
from actors.values.simulation import ANY_BUTTON, BUTTONS

SIMULATED: Final = tuple(word for spec in specs() for word in (spec.name, *spec.variants))


def communication() -> Iterator[Setting]:
    """Yield the rows of addresses, ports and access."""
    yield Setting(
        "communication/bind_address",
        TypeHint.STRING,
        "localhost",
        "Address to listen on; localhost is 127.0.0.1 and ::1.",
        text_rule=ADDRESS,
        locked=True,
    )
    yield flag(
        "communication/bind_all_interfaces",
        "Listen on every network interface; wins over communication/bind_address.",
        locked=True,
    )
    yield whole(
        "communication/http/port",
        None,
        replace(PORT, nullable=True),
        "One more HTTP port, if set and different from the others; 0 picks a free one.",
        locked=True,
    )
    yield whole(
        "communication/websocket/port",
        10001,
        PORT,
        "Port of the session channel with frame v3.1, and of HTTP; 0 picks a free one.",
        locked=True,
    )
    yield whole(
        "communication/websocket/legacy_port",
        10000,
        PORT,
        "Port of the session channel with frame v3.0, and of HTTP; 0 picks a free one.",
        locked=True,
    )
    yield whole(
        "communication/events/port",
        10020,
        PORT,
        "Port of the event channel; 0 picks a free one.",
        locked=True,
    )
    yield texts(
        "communication/allowed_origins",
        (),
        "Web origins that may connect, besides this machine's own.",
        rule=ORIGIN,
    )
    yield texts(
        "communication/allowed_hosts",
        (),
        "Host names that requests may carry, besides this machine's own names and addresses.",
        rule=HOST,
    )
    yield replace(
        flag(
            "communication/auth/required",
            "Ask peers that are not on this machine for the bearer token; turned off only with --set or in settings.json.",
            default=True,
            advanced=True,
        ),
        local_only=(False,),
    )
    yield whole(
        "communication/max_sessions",
        64,
        Constraint(1, 256),
        "Sessions at a time; one more is refused at the handshake.",
        locked=True,
    )
    yield flag(
        "communication/streaming/native",
        "Let a thread of its own, without the interpreter, answer the set-points of sessions; off: the event loop answers every message.",
        default=True,
        locked=True,
        advanced=True,
    )
    yield whole(
        "communication/streaming/threads",
        1,
        Constraint(1, 8),
        "Streaming threads; each session belongs to one. One serves tens of thousands of messages a second: more are of use "
        "only where processors are idle.",
        locked=True,
        advanced=True,
    )
    yield real(
        "communication/streaming/longest_turn",
        1.0,
        0.1,
        10.0,
        "How long the event loop may take for one turn before the streaming thread takes no more commands, so that forces fade: "
        "nobody could say stop.",
        unit="s",
        advanced=True,
    )
    yield real(
        "communication/stop_storage_wait",
        0.08,
        0.0,
        2.0,
        "How long POST /stop waits for the disk before it is answered with `stored` false; the stop itself waits for nothing.",
        unit="s",
        advanced=True,
    )
    yield flag(
        "communication/local/enabled",
        "Let programs on this machine, of the service's user or root, command devices through shared memory.",
        default=True,
        locked=True,
        advanced=True,
    )
    yield flag("communication/serial/enabled", "Look for devices on serial ports.", default=True)
    yield flag("communication/usb/enabled", "Look for devices on USB.", default=True)


def filters() -> Iterator[Setting]:
    """Yield the rows of the oscillation filter."""
    yield flag(
        "filters/oscillation/enabled",
        "Whether a contact that oscillates is found and damped, and its force taken back when that is not enough.",
        default=True,
        advanced=True,
    )
    yield real(
        "filters/oscillation/power",
        15,
        5,
        100,
        "Oscillatory power from which a half-cycle votes for oscillation; the judge of the motion needs 45 % of it, "
        "and a third of it keeps the filter at work.",
        unit="mW",
        advanced=True,
    )
    yield whole(
        "filters/oscillation/votes",
        5,
        Constraint(3, 8),
        "How many half-cycles in a row, with the judge's consent, make an oscillation; what the judge finds needs none.",
        advanced=True,
    )
    yield real(
        "filters/oscillation/floor_gain",
        0.12,
        0.05,
        0.5,
        "What is left of the force when an oscillation goes on although it is damped.",
        advanced=True,
    )
    yield real(
        "filters/oscillation/window",
        0.1,
        0.05,
        0.5,
        "Quiet time that ends the first of the eight stages of recovery; each further stage takes 0.04 s more.",
        unit="s",
        advanced=True,
    )


def control() -> Iterator[Setting]:
    """Yield the rows of the control loop."""
    yield whole(
        "control/frequency",
        4000,
        Constraint(100, 32000),
        "Rate of the control loop.",
        unit="Hz",
    )
    yield choice(
        "control/spin",
        "auto",
        ("auto", "off"),
        "Whether the loop may spin for the last microseconds before a tick instead of sleeping.",
        locked=True,
        advanced=True,
    )
    yield whole(
        "control/realtime_priority",
        80,
        Constraint(1, 99),
        "FIFO priority of the loop, where the system permits one.",
        locked=True,
        advanced=True,
    )
    yield Setting(
        "control/cpu",
        TypeHint.GENERIC,
        "auto",
        "Processor that the loop is pinned to: by itself, none, or a number.",
        constraint=Constraint(0, 1023, ("auto", "none")),
        locked=True,
        advanced=True,
    )
    yield real(
        "control/statistics_period",
        10,
        1,
        3600,
        "Time between two main-loop-statistics events.",
        unit="s",
        advanced=True,
    )


def sessions() -> Iterator[Setting]:
    """Yield the rows of all sessions."""
    yield real(
        "sessions/command_timeout",
        0.05,
        0.02,
        0.5,
        "How long a command holds when its session falls silent; then it ramps to zero.",
        unit="s",
    )
    yield real(
        "scene/timeout",
        0.5,
        0.1,
        5,
        "How long a scene holds when its client sends no message; then it fades, and the next message brings it back.",
        unit="s",
    )


def devices() -> Iterator[Setting]:
    """Yield the rows of devices; `haptic*` keys also exist for one kind or one device id."""
    yield Setting(
        "devices/simulated",
        TypeHint.ARR_STRING,
        None,
        "Simulated devices; null: an arm and a wireless grip when no real device is found at start.",
        constraint=Constraint(choices=SIMULATED, nullable=True),
        entries=16,
        locked=True,
    )
    yield flag("devices/auto_pairing", "Pair free arms and grips by themselves.", default=True)
    yield real(
        "devices/grip/attach_debounce",
        0.2,
        0.04,
        5,
        "Heartbeats without a gap for this long attach a grip.",
        unit="s",
        advanced=True,
    )
    yield real(
        "devices/grip/detach_debounce",
        0.1,
        0.04,
        5,
        "Heartbeats missing for this long detach a grip.",
        unit="s",
        advanced=True,
    )
    yield real(
        "devices/settle_time",
        5,
        0,
        30,
        "How long a real arm takes no commands after it was connected, unless it says another time itself.",
        unit="s",
        advanced=True,
    )
    yield real("devices/haptic*/filters/force_scale/gain", 1, 0, 2, "Factor on every force that is put out.")
    yield real(
        "devices/haptic*/filters/force_gate/gain",
        0.3,
        0,
        1,
        "How far the oscillation filter may close a session's force; the start value of new sessions.",
    )


def serialization() -> Iterator[Setting]:
    """Yield the rows of the format of frames and answers."""
    yield choice(
        "serialization/vocabulary",
        "auto",
        ("auto", "neutral", "inverse"),
        "Words of the output; input takes both always. auto: both in the frames of a session until its client uses a word"
        " that only one of them has, neutral elsewhere.",
    )
    explicit = flag(
        "serialization/explicit_fields", "Write every field of every object, identities too.", advanced=True
    )
    complete = flag(
        "serialization/force_complete_transforms", "Write all three parts of every transform.", advanced=True
    )
    # The interface lists these two, so they are listed although advanced.
    yield replace(explicit, always_listed=True)
    yield replace(complete, always_listed=True)
    yield flag("serialization/status_safety", "Show status.safety in frames.", advanced=True)
    yield flag("serialization/timestamps", "Show the tick and the time of a snapshot in frames.", advanced=True)


def features() -> Iterator[Setting]:
    """Yield the rows of optional features, off by default."""
    yield flag("features/grip_hook/enabled", "Ramp forces to zero when a paired grip is let go.")
    yield real(
        "features/grip_hook/timeout",
        0.1,
        0.02,
        5,
        "How long a grip is let go before features/grip_hook acts.",
        unit="s",
    )
    yield flag(
        "features/screensaver/enabled",
        "Say device-sleep when nobody moves or commands a device with motors; it obeys all the same.",
    )
    yield real(
        "features/screensaver/timeout",
        600,
        10,
        86400,
        "Time without motion and commands before features/screensaver acts.",
        unit="s",
    )
    yield flag("features/safe_trajectory/enabled", "Limit the speed of commanded positions.")
    yield real(
        "features/safe_trajectory/max_vel",
        0.5,
        0.01,
        2,
        "Speed limit of features/safe_trajectory.",
        unit="m/s",
    )
    yield from optional_monitors()
    yield flag("features/clutch/enabled", "Preview: configure.clutch scales or freezes the motion shown to the scene.")
    yield flag("features/session_force_scale/enabled", "Preview: a session's force can be scaled down by another.")
    yield flag("features/workspace_zoom/enabled", "Preview: transforms can be changed about a pivot point.")
    yield flag("features/hfx/enabled", "Preview: groundwork of the effects module.")
    yield flag("features/contact/enabled", "Preview: the command set_contact, a wall or a ball that the loop renders.")
    yield flag(
        "features/scene/enabled", "Preview: configure.scene, force fields that are sent once and the loop renders."
    )
    yield texts("features/modules/enabled", (), "Names of installed modules of other packages that are on.")


def optional_monitors() -> Iterator[Setting]:
    """Yield the rows of the safety monitors that are off by default (docs/force-path.md, "Optional monitors")."""
    yield real(
        "features/kinetic_energy_limit",
        0,
        0,
        10,
        "Kinetic energy of a device's own mass above which it brakes; 0: no limit.",
        unit="J",
    )
    yield real(
        "features/power_limit",
        0,
        0,
        100,
        "Power that the motors of a device put out above which it brakes; 0: no limit.",
        unit="W",
    )
    yield real(
        "features/contact_energy_limit",
        0,
        0,
        100,
        "Net work that the motors of a device put out in one contact above which it brakes; 0: no limit.",
        unit="J",
    )
    yield flag(
        "features/stiffness_warning",
        "Warn of stiffness that a client renders too late for what device and hand damp; it limits nothing.",
    )
    yield flag("features/brake_latch", "After an e-brake wait for POST /{device}/{id}/resume before forces come back.")
    yield flag("features/stop_brake", "Let a stop brake a moving device first, for at most 0.5 s, then put out zero.")
    yield choice(
        "features/enable_button",
        "off",
        ("off", *BUTTONS, ANY_BUTTON),
        "Button of the device or of its paired grip that has to be held for any force.",
    )


def others() -> Iterator[Setting]:
    """Yield the rows of presets, simulation and logging."""
    yield texts(
        "presets/freeform_profiles",
        ("*freeform*",),
        "Profile names, as patterns in any case, whose sessions start with the preset compact_zup on a compact.",
    )
    yield real(
        "simulation/settle_time",
        0.2,
        0,
        60,
        "How long a simulated arm settles after it connects.",
        unit="s",
    )
    yield whole(
        "simulation/seed",
        0,
        Constraint(0, 2**32 - 1),
        "Seed of everything that is random in simulated devices.",
        advanced=True,
    )
    yield flag(
        "simulation/stepped",
        "Let time stand still: the loop ticks only by POST /simulation/steps. Devices are simulated then, and no port is opened.",
        default=False,
        locked=True,
        advanced=True,
    )
    yield choice("misc/log_level", "info", ("debug", "info", "warning", "error"), "What the log says.")
    yield choice(
        "misc/log_format",
        "text",
        ("text", "json"),
        "Form of the log: lines of text, or one JSON object a line.",
        locked=True,
    )
    yield flag("misc/hidden_settings", "List advanced settings without ?advanced=true.", advanced=True)


SECTIONS: Final = (communication, filters, control, sessions, devices, detection, serialization, features, others)
CORE_CATALOG: Final = Catalog(setting for section in SECTIONS for setting in section())
