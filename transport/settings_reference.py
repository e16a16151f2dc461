"""Generator of docs/settings.md from the catalogue; `python -m transport.settings_reference` prints it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from actors.settings.api import FAMILY, KINDS, Catalog, Setting, value_as_json, variable
from transport.settings_catalog import SETTINGS_CATALOG

HEAD: Final = """\
# Settings

This page is generated from the catalogue in `actors/settings/catalog.py`; `make docs` writes it again.

A setting is read and changed over HTTP while the service runs:

```
GET    /settings                          the settings; ?advanced=true lists all advanced ones too
GET    /settings/control/frequency        one setting
POST   /settings/control/frequency        8000, or {{"value": 8000}}
POST   /settings                          {{"key": value, …}}: all of them or none
DELETE /settings/control/frequency        back to the default
```

What was acknowledged is on the disk, in `settings.json` in the state directory, and outlives a kill of the service.

**Which value counts.** The command line (`hapticd run --set control/frequency=8000`), then the environment
(`{example}=8000`), then the stored value, then the default. A setting that the first two give says so in
`overridden_by`; it can still be stored, and the stored value counts at the next start without them. The variable of a setting
is `HAPTICD_` and its key in capitals, with `__` for `/` and `X` for `*`. A list is written `a,b` or as JSON in both, and a
setting that may be `null` takes that word.

**One kind, one device.** A key `devices/haptic*/…` holds for every device. The same key with {kinds} or a device id
in the place of `haptic*` holds for that kind or that device; the most exact one counts, wherever it comes from.

**At the next start.** Settings marked *start* are stored at once and act when the service starts again: the answer says
`"restart_required": true`, and until then `effective` differs from `value`. All others act at once.
"""


def page(catalog: Catalog = SETTINGS_CATALOG) -> str:
    """Return the page with links to the pages that it names; ends with a newline."""
    return re.sub(r"\bdocs/([\w-]+\.md)\b", r"[\1](\1)", "\n".join(_lines(catalog))) + "\n"


def _lines(catalog: Catalog) -> Iterator[str]:
    kinds = ", ".join(f"`{kind}`" for kind in KINDS)
    yield HEAD.format(example=variable("control/frequency"), kinds=kinds).rstrip()
    for section, settings in groupby(catalog, lambda setting: setting.section):
        yield f"\n## {section}\n"
        yield "| Key | Type | Takes | Default | Meaning |"
        yield "|---|---|---|---|---|"
        for setting in settings:
            cells = (_key(setting), setting.type_hint, setting.wanted(), _default(setting), setting.description)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _key(setting: Setting) -> str:
    marks = [word for word, holds in (("start", setting.locked), ("advanced", setting.advanced)) if holds]
    if setting.key.startswith(FAMILY):
        marks.append("also for one kind or device")
    return f"`{setting.key}`" + (f" *({', '.join(marks)})*" if marks else "")


def _default(setting: Setting) -> str:
    default = value_as_json(setting.default)
    if isinstance(default, float) and default.is_integer():
        default = int(default)
    return f"`{json.dumps(default)}`"


if __name__ == "__main__":
    sys.stdout.write(page())
