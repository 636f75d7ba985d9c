# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules that stapgen signs: each run has its own, and a kernel that does not know the key is told before it is asked."""

import json
import re
import subprocess

DESCRIPTION = "modules signed by build and by a run, two at once, and a kernel that takes no signature of theirs"
IN_CI = ()
BUILD = {"drops": ["dropwatch"]}
SIGN = "/lab/work/mok.key,/lab/work/mok.pem"

# refused N: N connections that nobody takes.
GUEST = rf"""
refused() {{ for i in $(seq $1); do bash -c '</dev/tcp/127.0.0.1/9' 2>/dev/null; done; }}
say() {{ name=$1; shift; "$@" >$name.out 2>$name.err; echo $? >$name.exit; }}
exec_signed() {{ stapgen exec signed.ko -d 20 --json -o exec.rec; }}
run_signed() {{ stapgen dropwatch --sign {SIGN} -d 20 --json -o $1.rec; }}
run_signed warm >/dev/null 2>&1  # it compiles
say exec exec_signed &
say first run_signed first &
say second run_signed second &
until [ -s exec.rec ] && [ -s first.rec ] && [ -s second.rec ]; do sleep 0.3; done
awk '/^stap_/ {{ print $1 }}' /proc/modules >names
say same stapgen exec signed.ko -d 1
refused 7
wait
stapgen doctor dropwatch >free.txt 2>&1
echo 1 >/sys/module/module/parameters/sig_enforce
say unsigned stapgen exec drops.ko -d 1
say unknown stapgen exec signed.ko -d 1
say run run_signed none
finish
"""


def prepare(lab):
    subprocess.run(["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=lab 41/",
                    "-addext", "extendedKeyUsage=codeSigning", "-keyout", lab.work / "mok.key", "-out", lab.work / "mok.pem"],
                   check=True, capture_output=True)
    for number in (1, 2):
        lab.stapgen(["build", "dropwatch", "-r", lab.release, "--symbols", lab.symbols, "--sign", SIGN, "-o",
                     "/lab/work/" + ("signed.ko", "other.ko")[number - 1]])
    said = [lab.chroot(["modinfo", name]).stdout for name in ("signed.ko", "other.ko", "drops.ko")]
    names = [re.search(r"^name: +(\S+)$", text, re.M)[1] for text in said]
    assert len(set(names)) == 3 and all(len(name) == len(names[0]) for name in names), names
    assert [re.findall(r"^signer: +(.*)$", text, re.M) for text in said] == [["lab 41"], ["lab 41"], []], said


def check(lab):
    names = lab.read("names").split()
    assert len(names) == len(set(names)) == 3, names
    for name in ("exec", "first", "second"):
        print(f"--- {name}\n{lab.read(name + '.err')}")
        assert lab.read(f"{name}.exit").strip() == "0", name
        drops = json.loads(lab.read(f"{name}.out"))["drops"]
        counted = sum(row["count"] for row in drops if row["reason"] == "NO_SOCKET")
        assert counted == 7, (name, drops)
    for name, texts in (
            ("same", ("a module of this name is already loaded",)),
            ("unsigned", ("refuses unsigned modules", "it has the keys of ", "--sign mok.key,mok.pem", "openssl req")),
            ("unknown", ("signed by 'lab 41', whose key the kernel does not have", "mokutil --import")),
            ("run", ("signed by 'lab 41', whose key the kernel does not have",))):
        error = lab.read(f"{name}.err")
        print(f"--- {name}\n{error}")
        assert lab.read(f"{name}.exit").strip() == "4", lab.read(f"{name}.exit")
        assert all(text in " ".join(error.split()) for text in texts), name
    assert re.search(r"^module-signing +ok ", lab.read("free.txt"), re.M), lab.read("free.txt")
    assert lab.read("modules-left").strip() == "0"
