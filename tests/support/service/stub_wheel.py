"""A wheel named hapticd that needs nothing and only prints its version: what is tested is where things go."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

INFO: Final = "hapticd-{version}.dist-info"
METADATA: Final = "Metadata-Version: 2.1\nName: hapticd\nVersion: {version}\nProvides-Extra: usb\n"
WHEEL: Final = "Wheel-Version: 1.0\nGenerator: stub\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
ENTRY: Final = "[console_scripts]\nhapticd = hapticd_stub:main\n"
CODE: Final = "import sys\ndef main():\n    print('hapticd {version}', sys.prefix)\n"


def stub_wheel(folder: Path, version: str = "1.0") -> Path:
    """Write the wheel into a folder and return its path."""
    info = INFO.format(version=version)
    files = {
        "hapticd_stub.py": CODE,
        f"{info}/METADATA": METADATA,
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": ENTRY,
        f"{info}/RECORD": "",
    }
    path = folder / f"hapticd-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text.replace("{version}", version))
    return path
