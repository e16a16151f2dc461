"""What `--teleop.…` takes."""

from dataclasses import dataclass

from lerobot.teleoperators.config import TeleoperatorConfig


@TeleoperatorConfig.register_subclass("hapticd")
@dataclass(kw_only=True)
class HapticdConfig(TeleoperatorConfig):
    """Which service and device, and how they lead."""

    # As `hapticd_client.connect` takes it: ws://HOST:PORT, local:STATE_DIR; None: HAPTICD_URL, else this machine's service.
    url: str | None = None
    # None: HAPTICD_TOKEN.
    token: str | None = None
    # Id of the arm or compact; None: the only one.
    device: str | None = None
    # Button of the grip or pen that is attached to the device: the robot follows while it is pressed. "" follows always.
    clutch: str = "a"
    # m of the robot for 1 m of the hand.
    scale: float = 1.0
    # N; longer feedback is shortened, keeping its direction.
    max_force: float = 3.0
