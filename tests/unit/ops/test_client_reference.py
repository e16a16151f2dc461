"""docs/client-reference.md is current and has every public name of the client."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import hapticd_client
from hapticd_client.core.device import DeviceCore
from ops.client_reference import internals, page

DOCS = Path(__file__).parents[3] / "docs"


def test_page_is_current() -> None:
    assert (DOCS / "client-reference.md").read_text("utf-8") == "\n".join(page()).rstrip("\n") + "\n", "run make docs"


ERRORS = [
    found
    for name in hapticd_client.__all__
    if inspect.isclass(found := getattr(hapticd_client, name)) and issubclass(found, BaseException)
]


def entry(name: str) -> str:
    """What the page says of a name; "" where it is not there."""
    found = re.search(rf"^### {re.escape(name)}\b(.*?)(?=^##|\Z)", "\n".join(page()), re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize(
    "name",
    [*hapticd_client.__all__, "__version__", "Settings", "aio.Events", "aio.Settings", "notebook.Panel"],
)
def test_every_public_name_is_on_it(name: str) -> None:
    assert entry(name)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_public_attribute_of_an_error_is_on_it(error: Any) -> None:
    made = error((hapticd_client.Fault("", "a sentence"),) if error is hapticd_client.FrameErrors else "a sentence")

    missing = [name for name in vars(made) if not name.startswith("_") and f"`{name}`: " not in entry(error.__name__)]

    assert missing == [], "say in the docstring of __init__ what it is"


@pytest.mark.parametrize("state", hapticd_client.ServiceState)
def test_every_state_of_the_connection_is_on_it_with_its_meaning(state: hapticd_client.ServiceState) -> None:
    assert re.search(rf'^\* `{state.name}`, `"{state.value}"`: \w', entry("ServiceState"), re.MULTILINE)


@pytest.mark.parametrize("name", ["Device", "aio.Device", "aio.Events"])
def test_what_only_the_session_calls_is_not_on_it(name: str) -> None:
    hidden = internals(DeviceCore)

    assert {"show", "describe", "drop", "take_commands", "take_points", "take_configuration", "ask_again"} <= hidden
    assert {found for found in re.findall(r"^\| `(\w+)", entry(name), re.MULTILINE) if found in hidden} == set()


def test_every_line_of_a_public_name_says_something() -> None:
    assert all(line.strip(" |") for line in page() if line.startswith("|"))
