"""A panel for notebooks: STOP, the cursor and force of each device, and the loop's rate, straight from the service to the browser.

The panel has a session of its own, which commands nothing, and its STOP is a request of the browser: both work while a cell runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hapticd_client import aio
from hapticd_client.core.address import parse_address
from hapticd_client.service import Service

try:
    import anywidget  # pyright: ignore[reportMissingImports]
    import traitlets  # pyright: ignore[reportMissingImports]
except ImportError as missing:
    raise ImportError("A panel in a notebook needs anywidget: pip install 'hapticd-client[notebook]'.") from missing

HERE: Final = Path(__file__).parent


class Panel(anywidget.AnyWidget):  # type: ignore[misc]  # it has no annotations here
    """Shows a service in a notebook: `from hapticd_client.notebook import Panel`, and `Panel()` or `Panel(service)` at the end of a cell.

    It needs the extra `notebook` of the package: `hapticd-client[notebook]`.
    """

    _esm = HERE / "panel.js"
    _css = HERE / "panel.css"
    url = traitlets.Unicode().tag(sync=True)  # of the session channel
    http = traitlets.Unicode().tag(sync=True)

    def __init__(self, service: Service | aio.Service | str | None = None) -> None:
        """`service`: a connected one, an address, or None: as `connect` finds it. ValueError for what is no address.

        The browser has to reach the service at that address, and the service to let the notebook's page in: those of its own machine may
        come, others need `communication/allowed_origins`. NoService, WrongInstance.
        """
        if isinstance(service, Service):
            _ = service.version  # that it answers at this address: STOP is a request of the browser
            address = service.address
        elif isinstance(service, aio.Service):
            if service.address.local is not None:
                raise ValueError("which service answers HTTP is not known here: give the panel its address")
            address = service.address
        else:
            address = parse_address(service, None)
        super().__init__(url=address.websocket, http=address.http)
