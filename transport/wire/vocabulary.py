"""The words of the wire, both ways: the only module that knows the vendor's; everything behind it speaks neutral.

Output words depend on the connection's Vocabulary. Input functions take both vocabularies' words always.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from actors.values.identity import Connection, Kind
from actors.values.selector import matches

_TYPE_IN_SENTENCE: Final = re.compile(
    r"(?<![\w/*.-])(?:arm|compact|grip|pen)(?![\w/*\[:-]|\.\w)|(?<=(?<!\S)/)(?:arm|compact|grip|pen)(?=/)"
)


class Member(NamedTuple):
    """One sort of device that has a word of its own; `wireless` tells grips apart and is False for all others."""

    kind: Kind
    wireless: bool = False


ARM: Final = Member(Kind.ARM)
COMPACT: Final = Member(Kind.COMPACT)
WIRED: Final = Member(Kind.GRIP)
WIRELESS: Final = Member(Kind.GRIP, wireless=True)
PEN: Final = Member(Kind.PEN)

MEMBERS: Final = (ARM, COMPACT, WIRED, WIRELESS, PEN)
ARMS: Final = frozenset({Kind.ARM, Kind.COMPACT})
HANDLES: Final = frozenset({Kind.GRIP, Kind.PEN})
NOTHING: Final[frozenset[Member]] = frozenset()

AUTO: Final = "auto"

# Bits of OWNERS: which vocabulary a word belongs to.
NEUTRAL_WORD: Final = 1
INVERSE_WORD: Final = 2


class Vocabulary:
    """The output words of one connection or request; immutable, there are two: NEUTRAL and INVERSE."""

    def __init__(
        self,
        name: str,
        groups: Mapping[Member, str],
        types: Mapping[Member, str],
        families: Mapping[Kind, str],
        presets: Mapping[str, str],
        *,
        nests_filters: bool,
    ) -> None:
        """`nests_filters`: force gate and damping stand inside `config.filters`, not beside it."""
        self.name: Final = name
        self.nests_filters: Final = nests_filters
        self._group_names = tuple(dict.fromkeys(groups[member] for member in MEMBERS))
        self._by_member = groups
        self._groups = {key: groups[member] for key, member in _SORTS.items()}
        self._types = {key: types[member] for key, member in _SORTS.items()}
        self._families = families
        self._presets = presets
        nouns = {str(member.kind): types[member] for member in (ARM, COMPACT, WIRED, PEN)}
        self._nouns = {} if all(kind == word for kind, word in nouns.items()) else nouns

    def __repr__(self) -> str:
        return f"<Vocabulary {self.name}>"

    def groups(self) -> tuple[str, ...]:
        """Every group of a frame, in its order."""
        return self._group_names

    def group(self, kind: Kind, connection: Connection) -> str:
        """The group of a frame that the device stands in."""
        return self._groups[kind, connection]

    def type_word(self, kind: Kind, connection: Connection) -> str:
        """`config.type` of the device."""
        return self._types[kind, connection]

    def family(self, kind: Kind) -> str:
        """`device_family` of an event about the device."""
        return self._families[kind]

    def preset_out(self, name: str) -> str:
        """The word for a preset."""
        return self._presets.get(name, name)

    def said(self, sentence: str) -> str:
        """A sentence of the inside with this vocabulary's words for presets and device types; what is in quotes stays.

        A type is a word by itself or the first segment of a route (`/grip/1605/…`): settings keys and compounds stay.
        """
        for name, word in self._presets.items():
            sentence = sentence.replace(name, word)
        if not self._nouns:
            return sentence
        parts = sentence.split('"')
        parts[::2] = [_TYPE_IN_SENTENCE.sub(lambda found: self._nouns[found[0]], part) for part in parts[::2]]
        return '"'.join(parts)

    def full_groups(self, word: str) -> frozenset[str] | None:
        """The groups of this vocabulary that a word of `force_render_full_state.device_types` means; None: no such word."""
        members = _DEVICE_TYPES.get(word)
        return None if members is None else frozenset(self._by_member[member] for member in members)


def group_in(word: str) -> frozenset[Kind] | None:
    """The kinds among which an id in the input group `word` is looked up; None when it is no group."""
    return _GROUPS_IN.get(word)


def preset_in(word: str) -> str:
    """The preset's neutral name; a word that is no public one comes back as it is."""
    return _PRESETS_IN.get(word, word)


def path_members(word: str) -> frozenset[Member]:
    """What the type segment of a path means: a type, a family or a pattern (`*` = any characters); empty: nothing."""
    known = _PATH_WORDS.get(word) or _FAMILIES.get(word)
    if known is not None:
        return known
    return NOTHING.union(*(members for name, members in _PATH_WORDS.items() if matches(word, name, single=False)))


def path_kinds(word: str) -> frozenset[Kind]:
    """The kinds among which an exact id after the type segment `word` is found: the whole side that the word belongs to."""
    kinds = {member.kind for member in path_members(word)}
    return frozenset(kind for side in (ARMS, HANDLES) if kinds & side for kind in side)


def path_words() -> tuple[str, ...]:
    """Every word that stands for itself as the type segment of a path: types, then families."""
    return (*_PATH_WORDS, *_FAMILIES)


def setting_key(key: str) -> str:
    """The neutral key of a setting: `devices/…` with the type or family in public words becomes the catalogue's."""
    first, *rest = key.split("/")
    if first != "devices" or not rest:
        return key
    return "/".join((first, _SETTING_WORDS.get(rest[0], rest[0]), *rest[1:]))


def member_of(kind: Kind, connection: Connection) -> Member:
    """The sort of a device."""
    return _SORTS[kind, connection]


def vocabulary_named(name: str) -> Vocabulary | None:
    """The vocabulary that `serialization/vocabulary` or `?vocabulary=` names; `auto` starts as NEUTRAL. None: no such name."""
    return _VOCABULARIES.get(name)


def words_of(name: str) -> str:
    """The groups of a frame under the setting `name`, as one sentence for the ready lines."""
    neutral, inverse = (", ".join(vocabulary.groups()) for vocabulary in (NEUTRAL, INVERSE))
    if name == AUTO:
        return f"{neutral}; {inverse} for a session from the first of these words that it sends"
    return inverse if name == INVERSE.name else neutral


def _inverted(table: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({word: name for name, word in table.items()})


def _all(*members: Member) -> frozenset[Member]:
    return frozenset(members)


def _kinds(words: Iterable[str], kinds: frozenset[Kind]) -> dict[str, frozenset[Kind]]:
    return dict.fromkeys(words, kinds)


_SORTS: Final = MappingProxyType(
    {
        (kind, connection): Member(kind, wireless=kind is Kind.GRIP and connection is Connection.WIRELESS)
        for kind in Kind
        for connection in Connection
    }
)

_PUBLIC_PRESETS: Final = MappingProxyType({"compact_centered": "minverse_centered", "compact_zup": "minverse_zup"})
_PRESETS_IN: Final = _inverted(_PUBLIC_PRESETS)

_GROUPS_IN: Final = MappingProxyType(
    _kinds(("arm", "compact", "inverse3", "inverse3x", "minverse"), ARMS)
    | _kinds(("grip", "pen", "verse_grip", "wireless_verse_grip", "custom_verse_grip"), HANDLES)
)

# What one word of a path or a settings key means by itself.
_PATH_WORDS: Final = MappingProxyType(
    {
        "arm": _all(ARM),
        "inverse3": _all(ARM),
        "inverse3x": _all(ARM),
        "compact": _all(COMPACT),
        "minverse": _all(COMPACT),
        "grip": _all(WIRED, WIRELESS),
        "verse_grip": _all(WIRED),
        "wireless_verse_grip": _all(WIRELESS),
        "pen": _all(PEN),
        "custom_verse_grip": _all(PEN),
    }
)
_FAMILIES: Final = MappingProxyType(
    {
        "*": _all(*MEMBERS),
        "haptic*": _all(*MEMBERS),
        "inverse*": _all(ARM, COMPACT),
        "*inverse": _all(ARM, COMPACT),
        "*verse_grip": _all(WIRED, WIRELESS, PEN),
    }
)
_SETTING_WORDS: Final = MappingProxyType(
    {
        "inverse*": "haptic*",
        "inverse3": "arm",
        "inverse3x": "arm",
        "minverse": "compact",
        "custom_verse_grip": "pen",
    }
)

# A public word means all that stands in the group of that name, or in the group that its type belongs to.
_DEVICE_TYPES: Final = MappingProxyType(
    {
        **_PATH_WORDS,
        "inverse3": _all(ARM, COMPACT),
        "inverse3x": _all(ARM, COMPACT),
        "minverse": _all(ARM, COMPACT),
    }
)

NEUTRAL: Final = Vocabulary(
    "neutral",
    groups={ARM: "arm", COMPACT: "compact", WIRED: "grip", WIRELESS: "grip", PEN: "pen"},
    types={ARM: "arm", COMPACT: "compact", WIRED: "grip", WIRELESS: "grip", PEN: "pen"},
    families={kind: kind.value for kind in Kind},
    presets={},
    nests_filters=False,
)
INVERSE: Final = Vocabulary(
    "inverse",
    groups={
        ARM: "inverse3",
        COMPACT: "inverse3",
        WIRED: "verse_grip",
        WIRELESS: "wireless_verse_grip",
        PEN: "custom_verse_grip",
    },
    types={
        ARM: "inverse3",
        COMPACT: "minverse",
        WIRED: "verse_grip",
        WIRELESS: "wireless_verse_grip",
        PEN: "custom_verse_grip",
    },
    families={Kind.ARM: "inverse", Kind.COMPACT: "inverse", Kind.GRIP: "verse_grip", Kind.PEN: "verse_grip"},
    presets=_PUBLIC_PRESETS,
    nests_filters=True,
)

_VOCABULARIES: Final = MappingProxyType({AUTO: NEUTRAL, NEUTRAL.name: NEUTRAL, INVERSE.name: INVERSE})
VOCABULARY_NAMES: Final = tuple(_VOCABULARIES)

_NEUTRAL_GROUPS: Final = frozenset(NEUTRAL.groups())

# Groups, device types and presets that only one vocabulary has, by the bit of that vocabulary. A plain dict: read for each message.
OWNERS: Final[dict[str, int]] = {
    **{word: NEUTRAL_WORD if word in _NEUTRAL_GROUPS else INVERSE_WORD for word in _GROUPS_IN},
    **dict.fromkeys(_PUBLIC_PRESETS, NEUTRAL_WORD),
    **dict.fromkeys(_PRESETS_IN, INVERSE_WORD),
}
