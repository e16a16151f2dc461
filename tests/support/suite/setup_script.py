"""Import `setup.py` as a module without running a build."""

from __future__ import annotations

from contextlib import chdir
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]


def dependencies(source: Path, root: Path = ROOT) -> set[str]:
    """Paths relative to `root` of the files whose change rebuilds the extension of `source`."""
    spec = spec_from_file_location("hapticd_setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    with chdir(root):
        found: set[str] = script.dependencies(str(source.relative_to(root)))
    return found
