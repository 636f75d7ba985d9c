# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the JSON that stapgen prints to schemas/."""

import functools
import json
import pathlib

import jsonschema

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"


def kind_of(document):
    """Return the kind of a document: the name of its schema's file."""
    if "schema" in document:
        return document["schema"].removeprefix("stapgen.").replace("/", "-")
    return "record-1" if "event" in document else "compare-line-1" if "verdict" in document else "name-1"


@functools.cache
def validator_of(kind):
    file = SCHEMAS / f"{kind}.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema, default=None)
    validator.check_schema(schema)
    return validator(schema, **references(file, schema))


def references(file, schema):
    """Return what finds other schemas by their file's name: that of Debian 13's jsonschema, else that of Debian 12's."""
    try:
        import referencing  # pylint: disable=import-outside-toplevel
    except ModuleNotFoundError:
        return {"resolver": jsonschema.RefResolver(file.as_uri(), schema)}
    contents = ((path.name, json.loads(path.read_text(encoding="utf-8"))) for path in SCHEMAS.glob("*.json"))
    return {"registry": referencing.Registry().with_resources(
        (name, referencing.Resource.from_contents(content)) for name, content in contents)}


def is_allowed(document, kind):
    return validator_of(kind).is_valid(document)


def checked(document, kind=None):
    """Return the document, which its schema allows."""
    kind = kind or kind_of(document)
    flaws = [f"{kind}, {error.json_path}: {error.message[:300]}" for error in validator_of(kind).iter_errors(document)]
    assert not flaws, "\n".join(flaws)
    return document


def checked_lines(text):
    """Return the documents of ndjson, which their schemas allow."""
    documents = [json.loads(line) for line in text.splitlines()]
    return [checked(document, "compare-line-1" if kind_of(document) == "compare-1" else None) for document in documents]
