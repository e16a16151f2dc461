"""The plugins beside the real Gymnasium and LeRobot where they are installed (`make test-robots`), else beside the shapes of their interfaces."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / "clients" / "gym"), str(ROOT / "clients" / "lerobot")]
if find_spec("gymnasium") is None:
    sys.path.append(str(Path(__file__).with_name("standins")))
