# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules of kernel/, and records with the times that these have: those of the guest's kernel."""

import collections
import shutil

from .common import SOURCE

# spend_at NS STEP PLACE...: NS is to be spent at the first place, and STEP more at each next one. A place is "FUNCTION[|OTHER
# NAME]... WHICH", for the first of the names that there is; with + between them, for each. Then spend on, spend off, and
# others of the lines that kernel/spend.c takes.
SPEND = r"""
insmod kernel/spend.ko || exit 1
spend() { echo $* >/proc/spend; }
spend_at() {
    local ns=$1 step=$2 place name
    shift 2
    for place; do
        local found=
        for name in $(tr '|+' '  ' <<<"${place% *}"); do
            spend $name ${place##* } $ns 2>/dev/null && found=1 && [[ $place != *+* ]] && break
        done
        [ $found ] || { echo "spend: no function ${place% *}"; return 1; }
        ns=$((ns + step))
    done
}
"""

Call = collections.namedtuple("Call", "function begin end tid")


def build_modules(lab):
    """Compile the modules of kernel/ for the guest's kernel, as kernel/NAME.ko."""
    shutil.copytree(SOURCE / "kernel", lab.work / "kernel")
    lab.chroot(["make", "-s", "-C", f"/lib/modules/{lab.release}/build", "M=/lab/work/kernel", "modules"])


def read_calls(text):
    """Return the calls in what the module says, in the order of their time."""
    calls = []
    for function, begin, spent, tid in map(str.split, text.splitlines()):
        calls.append(Call(function, int(begin), int(begin) + int(spent), int(tid)))
    return sorted(calls, key=lambda call: call.begin)


def read_records(lab, name):
    """Return the records in NAME.rec as the script has printed them, a dict each, and which of their fields are stages, not parts of these."""
    lines = [line.split("\t") for line in lab.read_recording(f"{name}.rec").replace("\nslow\t", "\n").splitlines()]
    tag, *fields = next(words[3:] for words in lines if words[0] == "stapgen")
    types = dict(field.split(",")[0].rsplit(":", 1) for field in fields)

    def read(kind, word):
        return word if kind not in ("time", "int", "stage", "value") else None if word == "-" else int(word)

    records = [{field: read(kind, word) for (field, kind), word in zip(types.items(), words[1:], strict=True)}
               for words in lines if words[0] == tag]
    return records, [field for field, kind in types.items() if kind == "stage" and "." not in field]
