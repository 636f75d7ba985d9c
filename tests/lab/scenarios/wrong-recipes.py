# SPDX-License-Identifier: GPL-2.0-or-later
"""What stage-truths says of recipes that are wrong in one place: the patches of tests/lab/mutants that name it."""

import shutil
import subprocess

from lablib import kernel, scenario
from lablib.common import SOURCE

DESCRIPTION = "each wrong recipe of tests/lab/mutants is caught by stage-truths"
IN_CI = ()
NET = True
truths = scenario.load("stage-truths")
APPEND = truths.APPEND
TIMEOUT = 7200


class Mutant:
    """A patch, the first line of which is "stage-truths MODULE: what is wrong"."""

    def __init__(self, patch):
        test, _, self.wrong = patch.read_text().split("\n", 1)[0].partition(": ")
        self.patch, self.module = patch, test.partition(" ")[2]
        self.name = f"{self.module}-{patch.name.split('-')[0]}"


MUTANTS = [Mutant(patch) for patch in sorted((SOURCE / "mutants").glob("*.patch"))
           if patch.read_text().startswith("stage-truths ")]
GUEST = truths.guest([mutant.name for mutant in MUTANTS])


def prepare(lab):
    kernel.build_modules(lab)
    share = lab.installed / "share/stapgen"
    right = shutil.copytree(share, lab.run / "right")
    for mutant in MUTANTS:
        subprocess.run(["patch", "-s", "-p1", "-d", share, "-i", mutant.patch], check=True)
        scenario.build_modules(lab, {mutant.name: truths.BUILD[mutant.module]}, own_recipes=True)
        shutil.rmtree(share)
        shutil.copytree(right, share)


def check(lab):
    calls, hidden = truths.read_calls(lab, MUTANTS)
    passed = []
    for mutant in MUTANTS:
        try:
            truths.check_recipe(lab, mutant.name, calls, hidden)
            passed.append(mutant.patch.name)
        except AssertionError as failure:
            print(f"{lab.suite} CAUGHT {mutant.patch.name}: {mutant.wrong}: {failure}")
    assert not passed, f"nothing is wrong with {', '.join(passed)}"
    assert lab.read("modules-left").strip() == "0"
