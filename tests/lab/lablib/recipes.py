# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped recipes, as their folders say."""

from .common import SOURCE

TEMPLATES = SOURCE.parents[1] / "templates"


def with_script(*but):
    """Return the names of the recipes that have a script, without those in BUT."""
    names = sorted(file.parent.name for file in TEMPLATES.glob("*/script.stp"))
    assert len(names) > 10 and not set(but) - set(names), (names, but)
    return tuple(name for name in names if name not in but)
