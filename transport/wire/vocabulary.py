"""Vocabularies of the wire, built from the kinds' specs: translate names to and from the neutral ones.

Output words depend on the connection's Vocabulary. Input functions take both vocabularies' words always.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from actors.values.identity import Connection, Kind
from actors.values.kinds.registry import specs
from actors.values.selector import matches

_NAMES: Final = "|".join(spec.name for spec in specs())
_TYPE_IN_SENTENCE: Final = re.compile(rf"(?<![\w/*.-])(?:{_NAMES})(?![\w/*\[:-]|\.\w)|(?<=(?<!\S)/)(?:{_NAMES})(?=/)")


class Member(NamedTuple):
    """Sort of device that has a word of its own; `wireless` is True for wireless grips alone."""

    kind: Kind
    wireless: bool = False


# Every sort of device, in the order of a frame's groups.
MEMBERS: Final = tuple(
    Member(kind, wireless) for kind in Kind for wireless in ((False, True) if kind.spec.wireless else (False,))
)
NOTHING: Final[frozenset[Member]] = frozenset()

AUTO: Final = "auto"

# Bits of OWNERS: which vocabulary a word belongs to.
NEUTRAL_WORD: Final = 1
INVERSE_WORD: Final = 2


class Vocabulary:
    """Output words of a connection or request: NEUTRAL or INVERSE; immutable."""

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
        """`nests_filters`: force gate and damping are members of `config.filters`."""
        self.name: Final = name
        self.nests_filters: Final = nests_filters
        self._group_names = tuple(dict.fromkeys(groups[member] for member in MEMBERS))
        self._by_member = groups
        self._groups = {key: groups[member] for key, member in _SORTS.items()}
        self._types = {key: types[member] for key, member in _SORTS.items()}
        self._families = families
        self._presets = presets
        nouns = {str(member.kind): types[member] for member in MEMBERS if not member.wireless}
        self._nouns = {} if all(kind == word for kind, word in nouns.items()) else nouns

    def __repr__(self) -> str:
        return f"<Vocabulary {self.name}>"

    def groups(self) -> tuple[str, ...]:
        """Groups of a frame, in order."""
        return self._group_names

    def group(self, kind: Kind, connection: Connection) -> str:
        """Return the group of a frame that shows the device."""
        return self._groups[kind, connection]

    def type_word(self, kind: Kind, connection: Connection) -> str:
        """Return the device's `config.type`."""
        return self._types[kind, connection]

    def family(self, kind: Kind) -> str:
        """Return the `device_family` of an event about the device."""
        return self._families[kind]

    def preset_out(self, name: str) -> str:
        """Return the word for a preset."""
        return self._presets.get(name, name)

    def said(self, sentence: str) -> str:
        """Return a sentence with this vocabulary's words for presets and device types; quoted text stays.

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
        """Return the groups that a word of `force_render_full_state.device_types` means; None: no such word."""
        members = _DEVICE_TYPES.get(word)
        return None if members is None else frozenset(self._by_member[member] for member in members)


def preset_in(word: str) -> str:
    """Return the preset's neutral name; any other word unchanged."""
    return _PRESETS_IN.get(word, word)


def path_members(word: str) -> frozenset[Member]:
    """Return the sorts that the type segment of a path means: a type, a family or a pattern (`*` = any characters); empty: none."""
    known = _PATH_WORDS.get(word) or _FAMILIES.get(word)
    if known is not None:
        return known
    return NOTHING.union(*(members for name, members in _PATH_WORDS.items() if matches(word, name, single=False)))


def path_kinds(word: str) -> frozenset[Kind]:
    """Return the kinds that an exact id after the type segment `word` may have: all of the word's side of a pair."""
    kinds = {member.kind for member in path_members(word)}
    return frozenset(other for kind in kinds for other in _side(kind))


def path_words() -> tuple[str, ...]:
    """Return the words of the type segment of a path that are no patterns: types, then families."""
    return (*_PATH_WORDS, *_FAMILIES)


def setting_key(key: str) -> str:
    """Return the catalogue's key of a setting `devices/…` whose type or family is in words of a vocabulary."""
    first, *rest = key.split("/")
    if first != "devices" or not rest:
        return key
    return "/".join((first, _SETTING_WORDS.get(rest[0], rest[0]), *rest[1:]))


def member_of(kind: Kind, connection: Connection) -> Member:
    """Return the sort of a device."""
    return _SORTS[kind, connection]


def vocabulary_named(name: str) -> Vocabulary | None:
    """Return the vocabulary that `serialization/vocabulary` or `?vocabulary=` names; NEUTRAL for `auto`, None for no such name."""
    return _VOCABULARIES.get(name)


def words_of(name: str) -> str:
    """Return the groups of a frame under the setting `name`, as one sentence for the ready lines."""
    neutral, inverse = (", ".join(vocabulary.groups()) for vocabulary in (NEUTRAL, INVERSE))
    if name == AUTO:
        return f"{neutral} and {inverse}, until a session has used one of these words"
    return inverse if name == INVERSE.name else neutral


def _inverted(table: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({word: name for name, word in table.items()})


def _side(kind: Kind) -> frozenset[Kind]:
    """Return the kinds of the same side of a pair; the kind alone if it is never paired."""
    side = kind.spec.pairs_as
    return frozenset({kind}) if side is None else frozenset(other for other in Kind if other.spec.pairs_as is side)


def _inverse_type(member: Member) -> str:
    words = member.kind.spec.inverse
    return words.wireless if member.wireless and words.wireless is not None else words.type


def _inverse_group(member: Member) -> str:
    words = member.kind.spec.inverse
    return words.wireless if member.wireless and words.wireless is not None else words.group


def _inverse_words(kind: Kind) -> tuple[str, ...]:
    """Return the words of the inverse vocabulary that mean this kind or a sort of it."""
    words = kind.spec.inverse
    return tuple(dict.fromkeys((words.type, *words.aliases, *filter(None, (words.wireless,)))))


def _meant_by(kind: Kind, word: str) -> frozenset[Member]:
    """Return the sorts of a kind that one of its words means."""
    own = [member for member in MEMBERS if member.kind is kind]
    return frozenset(
        own if word == kind or word in kind.spec.inverse.aliases else (m for m in own if _inverse_type(m) == word)
    )


def _beside(members: frozenset[Member]) -> frozenset[Member]:
    """Return all sorts in the inverse groups of these."""
    groups = {_inverse_group(member) for member in members}
    return frozenset(member for member in MEMBERS if _inverse_group(member) in groups)


_SORTS: Final = MappingProxyType(
    {
        (kind, connection): Member(kind, wireless=kind.spec.wireless and connection is Connection.WIRELESS)
        for kind in Kind
        for connection in Connection
    }
)

_PUBLIC_PRESETS: Final = MappingProxyType({preset.name: preset.inverse for spec in specs() for preset in spec.presets})
_PRESETS_IN: Final = _inverted(_PUBLIC_PRESETS)

# What one word of a path or a settings key means by itself.
_PATH_WORDS: Final = MappingProxyType(
    {word: _meant_by(kind, word) for kind in Kind for word in (kind.value, *_inverse_words(kind))}
)
# Input group -> kinds among which an id in it is looked up.
GROUPS_IN: Final = MappingProxyType(
    {word: _side(kind) for kind in Kind for word in (kind.value, kind.spec.inverse.group, *_inverse_words(kind))}
)
_PATTERNS: Final = tuple(dict.fromkeys(pattern for kind in Kind for pattern in kind.spec.inverse.patterns))
_FAMILIES: Final = MappingProxyType(
    {"*": frozenset(MEMBERS), "haptic*": frozenset(MEMBERS)}
    | {
        pattern: frozenset(member for member in MEMBERS if pattern in member.kind.spec.inverse.patterns)
        for pattern in _PATTERNS
    }
)
# A public word stands for a kind in a settings key when it means all of it.
_SETTING_WORDS: Final = MappingProxyType(
    {"inverse*": "haptic*"}
    | {
        word: kind.value
        for kind in Kind
        for word in _inverse_words(kind)
        if _meant_by(kind, word) == _meant_by(kind, kind.value)
    }
)

# A public word means all that stands in the group of that name, or in the group that its type belongs to.
_DEVICE_TYPES: Final = MappingProxyType(
    {word: members if word in tuple(Kind) else _beside(members) for word, members in _PATH_WORDS.items()}
)

NEUTRAL: Final = Vocabulary(
    "neutral",
    groups={member: member.kind.value for member in MEMBERS},
    types={member: member.kind.value for member in MEMBERS},
    families={kind: kind.value for kind in Kind},
    presets={},
    nests_filters=False,
)
INVERSE: Final = Vocabulary(
    "inverse",
    groups={member: _inverse_group(member) for member in MEMBERS},
    types={member: _inverse_type(member) for member in MEMBERS},
    families={kind: kind.spec.inverse.family for kind in Kind},
    presets=_PUBLIC_PRESETS,
    nests_filters=True,
)

_VOCABULARIES: Final = MappingProxyType({AUTO: NEUTRAL, NEUTRAL.name: NEUTRAL, INVERSE.name: INVERSE})
VOCABULARY_NAMES: Final = tuple(_VOCABULARIES)


def _owner(word: str) -> int:
    """Return the bit of the vocabulary that alone has this word of a group or a type; 0: both have it."""
    of_inverse = any(word in (kind.spec.inverse.group, *_inverse_words(kind)) for kind in Kind)
    if word in NEUTRAL.groups():
        return 0 if of_inverse else NEUTRAL_WORD
    return INVERSE_WORD


# Groups, device types and presets that only one vocabulary has, by the bit of that vocabulary. A plain dict: read for each message.
OWNERS: Final[dict[str, int]] = {
    **{word: _owner(word) for word in GROUPS_IN},
    **dict.fromkeys(_PUBLIC_PRESETS, NEUTRAL_WORD),
    **dict.fromkeys(_PRESETS_IN, INVERSE_WORD),
}
