"""Schemas of values that several routes share: vectors, rotations, transforms, bases, presets, filters."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any, Final

from actors.device.api import MOST_GRAVITY
from actors.modules.built_in import built_in
from actors.session.api import LONGEST_NAME, OWN_PRESETS, preset_names
from actors.values.commands import LARGEST
from actors.values.identity import Kind
from fastpath.layout.constants import LARGEST_DAMPING
from transport.http.schema.json_schema import FLAG, TEXT, Named, either, number, obj, text, word
from transport.wire.shapes import SMALLEST_SCALE, UNIT_TOLERANCE
from transport.wire.vocabulary import INVERSE

PRINTABLE: Final = "printable"


def _any_of(*keys: str) -> dict[str, Any]:
    return {"anyOf": [{"required": [key]} for key in keys]}


REAL: Final = number(-LARGEST, LARGEST)
VEC3: Final = Named(
    "Vec3", obj(dict.fromkeys("xyz", REAL), description="Metres, or newtons, or N·s/m: as the field says.")
)
_PART: Final = number(-1 - UNIT_TOLERANCE, 1 + UNIT_TOLERANCE)
ROTATION: Final = Named(
    "Rotation",
    obj(dict.fromkeys("wxyz", _PART), description="A quaternion whose norm is within 0.001 of 1; it is normalised."),
)
_FACTOR: Final = number(SMALLEST_SCALE, LARGEST)
SCALE: Final = Named(
    "Scale", either(_FACTOR, obj(dict.fromkeys("xyz", _FACTOR)), description="Factors; one number means all three.")
)

PARTS: Final = {"position": VEC3, "rotation": ROTATION, "scale": SCALE}
_FLAT: Final = obj(
    {}, optional=PARTS, one_of_them=True, description="What is sent must be complete in itself; {} sends nothing."
)
FLAT: Final = Named("TransformParts", {**_FLAT, "anyOf": [*_FLAT["anyOf"], {"maxProperties": 0}]})
# Keys of a module are refused while the module is off.
_OF_MODULES: Final = sorted(
    {word for module in built_in() for words in module.words.by_place().values() for word in words}
)
SENT_TRANSFORM: Final = Named(
    "SentTransform",
    either(
        {**obj({"transform": FLAT}), "not": _any_of(*_OF_MODULES)},
        {**FLAT.schema, "not": _any_of("transform", *_OF_MODULES)},
    ),
)
WHOLE_TRANSFORM: Final = Named(
    "Transform",
    obj(
        {
            "transform": obj(
                {
                    "position": obj(dict.fromkeys("xyz", number())),
                    "rotation": obj(dict.fromkeys("wxyz", number())),
                    "scale": obj(dict.fromkeys("xyz", number())),
                }
            )
        },
        description="All three parts, always; rotation in the order w, x, y, z.",
    ),
)

PERMUTATION: Final = word(
    *("".join(sign + axis for sign, axis in zip(signs, axes, strict=True))
      for axes in permutations("XYZ") for signs in product(("", "-"), repeat=3))
)  # fmt: skip
BASIS: Final = Named(
    "Basis",
    obj({"permutation": PERMUTATION}, description="Position i names the device axis that application axis i takes."),
)
SENT_BASIS: Final = either(BASIS, PERMUTATION)

PRESET: Final = word(
    *sorted({name for kind in Kind for name in preset_names(kind)}), *map(INVERSE.preset_out, OWN_PRESETS)
)
SENT_PRESET: Final = either(obj({"preset": PRESET}), PRESET, description="The presets of a compact fit no arm.")

_DAMPED: Final = number(0, LARGEST_DAMPING)
DAMPING: Final = Named("Damping", obj({"scalar": number()}, optional={"vector": obj(dict.fromkeys("xyz", number()))}))
SENT_DAMPING: Final = Named(
    "SentDamping",
    obj(
        {},
        optional={"scalar": _DAMPED, "vector": obj(dict.fromkeys("xyz", _DAMPED))},
        one_of_them=True,
        description="N·s/m; scalar and vector add, vector is in device axes; what is not sent is 0.",
    ),
)
GAIN: Final = number(0, 1)
FORCE_GATE: Final = obj({"gain": GAIN})
SENT_FORCE_GATE: Final = either(FORCE_GATE, GAIN)

PROFILE: Final = obj({"name": text(minLength=1, maxLength=LONGEST_NAME, format=PRINTABLE)})
PROFILE_SHOWN: Final = obj({"name": TEXT})

HANDEDNESS: Final = word("left", "right")
SENT_HANDEDNESS: Final = either(obj({"handedness": HANDEDNESS}), HANDEDNESS)
ENABLED: Final = obj({"enabled": FLAG})
SENT_ENABLED: Final = either(ENABLED, FLAG)
GRAVITY: Final = obj({"enabled": FLAG, "scaling_factor": number(0, MOST_GRAVITY)})
SENT_GRAVITY: Final = obj({}, optional=GRAVITY["properties"], one_of_them=True)
