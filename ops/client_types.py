"""Write the types of the TypeScript client from the service's OpenAPI and AsyncAPI documents: `make client-types`; needs node and npm.

openapi-typescript makes both. Of the OpenAPI document the routes that the client and the dashboard ask are taken: the whole of it is a megabyte.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "clients" / "typescript"
WORK: Final = ROOT / "build" / "typescript"
ROUTES: Final = ("/version", "/stop", "/{device}/{id}/stop", "/settings/{key}", "/ports", "/sessions", "/readyz")
HEAD: Final = "// Written by make client-types from the service's {document}: do not edit.\n\n"


def main() -> int:
    """Install what package-lock.json names, and write both files."""
    install()
    for name, text in generated().items():
        (PACKAGE / "src" / name).write_text(text, encoding="utf-8")
    return 0


def install() -> None:
    """Install the packages of package-lock.json into build/typescript, unless they are there. CalledProcessError."""
    lock = (PACKAGE / "package-lock.json").read_text(encoding="utf-8")
    done = WORK / "installed.json"
    if done.is_file() and done.read_text(encoding="utf-8") == lock:
        return
    WORK.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(PACKAGE / name, WORK / name)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=WORK, check=True, stdout=subprocess.DEVNULL)
    done.write_text(lock, encoding="utf-8")


def generated() -> dict[str, str]:
    """Return the text of each file by its name. CalledProcessError."""
    return {
        "channels.ts": _types("channels", _channels(), "AsyncAPI document"),
        "http.ts": _types("http", _http(), "OpenAPI document"),
    }


def _types(name: str, document: dict[str, Any], origin: str) -> str:
    source, target = WORK / f"{name}.json", WORK / f"{name}.ts"
    source.write_text(json.dumps(document), encoding="utf-8")
    program = str(WORK / "node_modules" / ".bin" / "openapi-typescript")
    options = ["--export-type", "--root-types", "--root-types-no-schema-prefix"]
    subprocess.run([program, str(source), "--output", str(target), *options], check=True, stdout=subprocess.DEVNULL)
    _, _, text = target.read_text(encoding="utf-8").partition("*/\n")
    return HEAD.format(document=origin) + text.lstrip()


def _channels() -> dict[str, Any]:
    """Return messages, frames and events as the schemas of an OpenAPI document."""
    found = json.loads((ROOT / "docs" / "asyncapi.json").read_text(encoding="utf-8"))
    schemas = {name: _without_choices(schema) for name, schema in found["components"]["schemas"].items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "channels", "version": "1"},
        "paths": {},
        "components": {"schemas": schemas},
    }


def _http() -> dict[str, Any]:
    """Return the routes of ROUTES, with the schemas that they refer to."""
    from ops.docs_site import openapi

    found = openapi()
    paths = {path: found["paths"][path] for path in ROUTES}
    kept: dict[str, dict[str, Any]] = {}
    while True:
        text = json.dumps([paths, kept])
        missing = [
            (kind, name)
            for kind, named in found["components"].items()
            for name in named
            if name not in kept.get(kind, {}) and f'"#/components/{kind}/{name}"' in text
        ]
        if not missing:
            return {**found, "paths": paths, "components": kept}
        for kind, name in missing:
            kept.setdefault(kind, {})[name] = found["components"][kind][name]


def _without_choices(schema: Any) -> Any:
    """Return a schema without choices between required fields, of which a type would be `unknown`."""
    if not isinstance(schema, dict):
        return schema
    choices: Any = schema.get("anyOf") or schema.get("oneOf") or ()
    if "properties" in schema and all("type" not in choice and "$ref" not in choice for choice in choices):
        return {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    return schema


if __name__ == "__main__":
    sys.exit(main())
