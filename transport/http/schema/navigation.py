"""Schemas of a session's navigation, sent and shown; limits come from the rules."""

from __future__ import annotations

from typing import Any, Final

from actors.session.api import BUBBLE, LARGEST_PLACE, NUMBERS, OFF
from fastpath.navigation.values import PRIMITIVES
from transport.http.schema.json_schema import FLAG, Named, either, nullable, number, obj, word
from transport.wire.navigation import DRIFT, FIXED

_LENGTH: Final = number(-LARGEST_PLACE, LARGEST_PLACE)
_PLACE: Final = obj(dict.fromkeys("xyz", _LENGTH))
_MODE: Final = word(OFF, BUBBLE)
_CENTER_MODE: Final = word(FIXED, DRIFT)
_SHAPE: Final = either(
    *(
        obj(
            {
                "primitive": word(primitive),
                "parameters": obj({name: _PLACE if vector else _LENGTH for name, vector in parameters.items()}),
            }
        )
        for primitive, parameters in PRIMITIVES.items()
    ),
    description="Metres, about the center; vertical is along y.",
)


def _numbers(group: str) -> dict[str, Any]:
    return {name: number(limits.least, limits.most, limits.unit) for name, limits in NUMBERS[group].items()}


_GROUPS: Final = ("velocity", "spring", "damping")

NAVIGATION: Final = Named(
    "Navigation",
    obj(
        {
            "mode": _MODE,
            "bubble": obj(
                {
                    "shape": _SHAPE,
                    "center": obj(
                        {"mode": _CENTER_MODE, "drift": obj(_numbers("drift"))},
                        optional={"position": obj(dict.fromkeys("xyz", number()))},
                        description="Without a position: the reach centre.",
                    ),
                    **{group: obj(_numbers(group)) for group in _GROUPS},
                    "collision": obj({"enabled": FLAG, **_numbers("collision")}),
                    **_numbers(""),
                }
            ),
        }
    ),
)
SENT_NAVIGATION: Final = Named(
    "SentNavigation",
    either(
        _MODE,
        obj(
            {},
            optional={
                "mode": _MODE,
                "bubble": obj(
                    {},
                    optional={
                        "shape": _SHAPE,
                        "center": obj(
                            {},
                            optional={
                                "mode": _CENTER_MODE,
                                "position": nullable(_PLACE),
                                "drift": obj({}, optional=_numbers("drift"), one_of_them=True),
                            },
                            one_of_them=True,
                        ),
                        **{group: obj({}, optional=_numbers(group), one_of_them=True) for group in _GROUPS},
                        "collision": obj({}, optional={"enabled": FLAG, **_numbers("collision")}, one_of_them=True),
                        **_numbers(""),
                    },
                    one_of_them=True,
                ),
            },
            one_of_them=True,
        ),
        description="What is not sent stays.",
    ),
)
