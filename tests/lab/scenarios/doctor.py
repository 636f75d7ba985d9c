# SPDX-License-Identifier: GPL-2.0-or-later
"""What the doctor says of a machine is what happens on it: each row that is missing, and SystemTap failing of it."""

import json
import re

DESCRIPTION = "stapgen doctor on good and broken machines; each row that is missing, and SystemTap failing of it"
LIVE = True
ALONE = "it breaks the machine"
IN_CI = ("trixie",)
ALSO_ON = ("trixie-cloud", "trixie-rt")
BUILD = {"drops": ["dropwatch"]}

# doctor NAME COMMAND...: the doctor's JSON as NAME.json, its exit code as NAME.exit; table ...: its table, NAME.txt.
# plain NAME COMMAND...: what SystemTap itself does there, as NAME.plain with its exit code.
LIBRARY = r"""
doctor() {
    local name=$1
    shift
    "$@" doctor dropwatch --json >$name.json 2>$name.err
    echo $? >$name.exit
}
table() {
    local name=$1
    shift
    "$@" doctor dropwatch >$name.txt 2>&1
    [ $? = $(cat $name.exit) ] || echo "another exit code than with --json" >>$name.txt
}
plain() {
    local name=$1
    shift
    "$@" >$name.plain 2>&1
    echo "[exit $?]" >>$name.plain
}
# staprun takes the module's name from the file's.
module=/tmp/$(modinfo -F name drops.ko).ko
cp drops.ko $module
chmod a+r $module
"""

GUEST = LIBRARY + r"""
build=/lib/modules/$LAB_RELEASE/build
umount /sys/kernel/debug
doctor good stapgen
table good stapgen
stapgen dropwatch -i 1 -n 1 >run.out 2>run.err
echo $? >run.exit

doctor nobody setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp stapgen
plain nobody setpriv --reuid=65534 --regid=65534 --clear-groups staprun $module

doctor capability setpriv --bounding-set=-sys_module --inh-caps=-sys_module stapgen
plain capability setpriv --bounding-set=-sys_module --inh-caps=-sys_module staprun $module

# In suites of another kernel the folder cannot be written.
mount -t tmpfs tmpfs ${build%/build}
doctor headers stapgen
plain headers stap -p2 -e 'probe begin { exit() }'
# A module that nobody has kept.
stapgen dropwatch -i 7 2>headers-run.err
umount ${build%/build}

staprun -L $module
doctor leftovers stapgen
table leftovers stapgen
sh -c "$(sed -n 's/^ *\(staprun -d .*\)/\1/p' leftovers.txt)" >leftovers.remedy 2>&1
doctor removed stapgen

# Between the doctor's look and the loading: the run fails in pass 5, and ends with the row that is true by then.
cat >/tmp/stap <<'END'
#!/bin/sh
/usr/bin/stap "$@"
code=$?
case "$*" in *-p4*) sysctl -qw kernel.modules_disabled=1 ;; esac
exit $code
END
chmod +x /tmp/stap
stapgen dropwatch -i 1 -n 1 --stap /tmp/stap >pass5.out 2>pass5.err
echo $? >pass5.exit
doctor disabled stapgen
plain disabled staprun $module
stapgen exec drops.ko 2>disabled-run.err
finish
"""

LOCKED = LIBRARY + r"""
umount /sys/kernel/security 2>/dev/null
doctor cmdline stapgen
mount -t securityfs securityfs /sys/kernel/security
doctor lockdown stapgen
table lockdown stapgen
plain lockdown staprun $module
stapgen exec drops.ko 2>lockdown-run.err
finish
"""

# In the chroot, where nothing can be loaded: compiling for the guest's kernel. /usr is a copy on write.
CHROOT = r"""
for folder in bin src; do
    mkdir -p /tmp/$folder/new /tmp/$folder/work
    mount -t overlay -o lowerdir=/usr/$folder,upperdir=/tmp/$folder/new,workdir=/tmp/$folder/work overlay /usr/$folder ||
        exit 9
done
cd /tmp
doctor() { stapgen doctor rx-latency -r $R "$@"; echo "[exit $?]"; }
echo == good
doctor --symbols $SYMBOLS 2>&1
echo == stub
doctor 2>&1
stap -p2 -r $R -e 'probe kprobe.function("tcp_v4_rcv") { print(1) }' 2>&1
echo == tracepoints
stapgen doctor dropwatch -r $R 2>&1
echo "[exit $?]"
echo == compiler
compiler=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ ]*\) .*/\1/p' /boot/config-$R)
rm $(readlink -f /usr/bin/$compiler)
doctor --symbols $SYMBOLS 2>&1
XDG_CACHE_HOME=/tmp/cache stap -p4 -r $R -e 'probe begin { exit() }' 2>&1
echo == headers
rm -r /usr/src/linux-headers-$R
doctor --symbols $SYMBOLS 2>&1
stap -p2 -r $R -e 'probe begin { exit() }' 2>&1
echo == stap
rm /usr/bin/stap
doctor --symbols $SYMBOLS 2>&1
"""

KEYS = ["schema", "release", "running", "able", "unable", "verdict", "first", "checks"]
CHECK_KEYS = ["check", "state", "blocks", "found", "cure", "remedy"]


def prepare(lab):
    # What the guest's stap will ask for, put into its cache at native speed.
    lab.stapgen(["build", "dropwatch", "-i", "1", "-r", lab.release, "--symbols", lab.symbols, "-o", "/lab/work/x.ko"])
    done = lab.chroot(["env", f"R={lab.release}", f"SYMBOLS={lab.symbols}", "sh", "-c", CHROOT], check=False)
    print(done.stdout + done.stderr)
    parts = {name: " ".join(text.split())
             for name, text in re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", done.stdout, re.M | re.S)}

    def said(part, code, *texts):
        for text in (f"[exit {code}]", *texts):
            assert text in parts[part], f"{part}: '{text}' is missing"

    said("good", 0, f"rx-latency will compile here for {lab.release}: stapgen build rx-latency")
    said("stub", 4, "missing", "so stap finds no function", "--symbols", "no match")
    said("tracepoints", 0, "dropwatch will compile here")
    said("compiler", 4, "missing not installed: ", "apt-get install make gcc-", "Pass 4: compilation failed")
    package = f"linux-headers-{lab.release}"
    unpacked = f"apt-get download {package}:{lab.root.architecture} && dpkg -x {package}_*.deb /"
    said("headers", 4, unpacked if lab.root.architecture else f"apt-get install {package}", "failed with error: No such file or directory")
    said("stap", 4, "apt-get install systemtap", "SystemTap is not installed")


def rows(lab, name):
    """Return {check: row} of a JSON, which is as docs/reference/formats.md has it, and the same as the table."""
    document = json.loads(lab.read(f"{name}.json"))
    assert list(document) == KEYS and document["schema"] == "stapgen.doctor/1", document.keys()
    assert document["release"] == lab.release and document["running"] is True
    for row in document["checks"]:
        assert list(row) == CHECK_KEYS, row
        assert row["state"] in ("ok", "cured", "note", "missing"), row
        assert row["blocks"] in ("nothing", "loading", "compiling", "functions"), row
        if row["state"] == "missing":
            assert row["remedy"]["text"], row
    states = {row["check"]: row["state"] for row in document["checks"]}
    assert len(states) == len(document["checks"])
    code = 0 if document["able"] == ["dropwatch"] else 4
    assert lab.read(f"{name}.exit").strip() == str(code), lab.read(f"{name}.exit")
    if (lab.work / f"{name}.txt").exists():
        table = lab.read(f"{name}.txt")
        assert "another exit code" not in table and document["verdict"] in table, table
        assert re.findall(r"^([a-z][a-z-]+) +(ok|workaround|note|missing) ", table, re.M) == [
            (check, {"cured": "workaround"}.get(state, state)) for check, state in states.items()], table
        assert all(len(line) <= 80 for line in table.splitlines() if not line.startswith(("  hint", "      "))), table
    return {row["check"]: row for row in document["checks"]}


def can_lock(lab):
    """A kernel under lockdown refuses the 9p that the lab has built for one without."""
    return not list((lab.root.tree / "usr/lib/modules" / lab.release).glob("updates/**/9p.ko"))


def check(lab):
    locks = can_lock(lab)
    if locks:
        lab.append += " lockdown=integrity"
        lab.boot(LOCKED)
    else:
        print(f"{lab.suite}: not under lockdown, where the lab's own 9p module is refused")
    for name in ("good", "leftovers", *["lockdown"] * locks):
        print(f"--- {lab.suite} {name}\n{lab.read(f'{name}.txt')}")
    for name in ("nobody", "capability", "headers", "disabled", *["cmdline"] * locks):
        print(f"--- {lab.suite} {name}\n{lab.read(f'{name}.err')}")

    good = rows(lab, "good")
    assert not [row for row in good.values() if row["state"] == "missing"], good
    assert "staprun mounts it" in good["debugfs"]["found"]
    assert good["symbol-table"]["state"] == "cured" and good["symbol-table"]["cure"] == "symbol-table"
    assert good["first-run"]["state"] == "ok", good["first-run"]
    # A guest of another architecture has no kbuild: this machine compiles for it.
    compiles = not lab.root.architecture
    assert not compiles or lab.read("run.exit").strip() == "0", lab.read("run.err")
    worked_around = {row["check"] for row in good.values() if row["state"] == "cured"}
    reported = set(", ".join(re.findall(r"^stapgen: workaround: ([^:]+): ", lab.read("run.err"), re.M)).split(", "))
    assert worked_around == reported, f"the doctor has workarounds {worked_around}, the run {reported}"

    # Each with the check that is missing, and what plain SystemTap says.
    for name, missing, plain in (
            ("nobody", {"privileges", "staprun"}, "[exit "),
            ("capability", {"privileges"}, "[exit "),
            ("headers", {"headers"}, "failed with error: No such file or directory"),
            ("disabled", {"modules"}, "Operation not permitted"),
            *[("lockdown", {"module-signing"}, "Operation not permitted")] * locks):
        found = {row for row, all_of_it in rows(lab, name).items() if all_of_it["state"] == "missing"}
        assert missing - {"staprun"} <= found <= missing | {"compiler"}, f"{name}: {found}"
        print(f"--- {lab.suite} {name}, plain\n{lab.read(f'{name}.plain')}")
        assert plain in lab.read(f"{name}.plain") and "[exit 0]" not in lab.read(f"{name}.plain")
    if locks:
        assert rows(lab, "cmdline")["module-signing"]["state"] == "missing"
        assert "/proc/cmdline" in rows(lab, "cmdline")["module-signing"]["found"]
        assert "/sys/kernel/security/lockdown" in rows(lab, "lockdown")["module-signing"]["found"]

    for name, text in (("headers", f"apt-get install linux-headers-{lab.release}"), ("disabled", "modules_disabled"),
                       *[("lockdown", "lockdown")] * locks):
        print(f"--- {lab.suite} {name}, run\n{lab.read(f'{name}-run.err')}")
        assert text in lab.read(f"{name}-run.err")
    print(f"--- {lab.suite} pass 5\n{lab.read('pass5.err')}")
    assert not compiles or lab.read("pass5.exit").strip() == "4"
    assert not compiles or re.search(r"^stapgen doctor:\nmodules missing kernel.modules_disabled is 1", lab.read("pass5.err"), re.M)

    assert rows(lab, "leftovers")["leftovers"]["state"] == "note"
    assert rows(lab, "removed")["leftovers"]["state"] == "ok", lab.read("leftovers.remedy")
    assert lab.read("modules-left").strip() == "0"
