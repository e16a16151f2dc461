"""Check subjects of new commits, `topic: imperative`, 72 characters: `python -m tests.lint.commit_subjects`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
# The last commit of the time before this rule.
BASE: Final = "d44973cd26f9962695146e8d1f1bbe64ae36ec9e"
LONGEST: Final = 72
FORM: Final = re.compile(r"[a-z0-9][\w ,./+-]*: (?P<verb>[a-z][\w-]*)\b(?:.*[^.\s])?")
# An ending tells most of what is no imperative; these verbs only look like it.
NO_IMPERATIVE: Final = re.compile(r"\w+(?:ing|ed|(?<!s)s)")
IMPERATIVES: Final = frozenset({"bring", "string", "embed", "feed", "need", "shed", "speed", "focus", "canvas", "bias"})
# First words of subjects that describe a state in place of a change.
NO_VERBS: Final = frozenset(
    {
        "a",
        "all",
        "an",
        "and",
        "any",
        "better",
        "every",
        "more",
        "new",
        "nicer",
        "no",
        "now",
        "only",
        "our",
        "plain",
        "plainer",
        "some",
        "still",
        "that",
        "the",
        "these",
        "this",
        "what",
        "when",
    }
)


def fault(subject: str) -> str | None:
    """Return why a subject breaks the rule; None when it keeps it."""
    if len(subject) > LONGEST:
        return f"has {len(subject)} characters: {LONGEST} are allowed"
    found = FORM.fullmatch(subject)
    if found is None:
        return "is not of the form 'topic: imperative', without a full stop"
    verb = found["verb"]
    if verb in NO_VERBS or (NO_IMPERATIVE.fullmatch(verb) and verb not in IMPERATIVES):
        return f"begins with {verb!r}, which is no imperative"
    return None


def new_commits(root: Path = ROOT) -> list[tuple[str, str]]:
    """Hash and subject of each commit since `BASE`, merges left out; none where the history does not reach back to it."""
    known = ["git", "-C", str(root), "merge-base", "--is-ancestor", BASE, "HEAD"]
    if subprocess.run(known, capture_output=True, check=False).returncode != 0:
        sys.stderr.write(f"commit subjects are not checked: this history does not hold {BASE[:7]}\n")
        return []
    log = ["git", "-C", str(root), "log", "--no-merges", "--format=%H %s", f"{BASE}..HEAD"]
    lines = subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()
    return [(commit, subject) for commit, _, subject in (line.partition(" ") for line in lines)]


def main() -> int:
    """Exit code: 1 when a new commit's subject breaks the rule."""
    bad = [f"{commit[:7]} {why}: {subject}" for commit, subject in new_commits() if (why := fault(subject)) is not None]
    sys.stderr.write("".join(f"{line}\n" for line in bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
