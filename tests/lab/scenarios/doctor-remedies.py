# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor's commands, taken from its JSON and run: what was missing is there, and the recipe compiles."""

import json
import re
import shutil

from lablib.roots import proxy_options

DESCRIPTION = "stapgen doctor's commands install what was purged; the recipes that it says need no symbol table need none"
IN_CI = ()

# A copy on write of the root; its lists of packages are fetched again.
ENTER = r"""
mkdir -p /tmp/over && mount -t tmpfs tmpfs /tmp/over && mkdir /tmp/over/new /tmp/over/work /tmp/over/root
mount -t overlay -o lowerdir=/,upperdir=/tmp/over/new,workdir=/tmp/over/work overlay /tmp/over/root || exit 9
for folder in dev proc sys lab; do mount --rbind /$folder /tmp/over/root/$folder; done
mount -t tmpfs tmpfs /tmp/over/root/tmp
cp /lab/work/resolv.conf /tmp/over/root/etc/resolv.conf
exec chroot /tmp/over/root sh -c "$SCRIPT"
"""

SCRIPT = r"""
cd /tmp
export DEBIAN_FRONTEND=noninteractive
apt-get $PROXY update >apt.log 2>&1 || exit 77
doctor() { stapgen doctor rx-latency -r $R --symbols $SYMBOLS --json >/lab/work/$1.json; }
doctor before
compiler=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ ]*\) .*/\1/p' /boot/config-$R | sed 's/.*gcc/gcc/')
apt-get -y purge systemtap linux-headers-$R make $compiler >>apt.log 2>&1
doctor broken
for check in systemtap headers compiler; do
    command=$(python3 -c "import json
print([row['remedy']['commands']['debian'] for row in json.load(open('/lab/work/broken.json'))['checks']
       if row['check'] == '$check'][0])")
    echo "$check: $command"
    if ! $(echo "$command" | sed "s#apt-get install#apt-get $PROXY -y --no-install-recommends install#") >>apt.log 2>&1; then
        tail -5 apt.log
        grep -q 'Unable to locate package\|404 ' apt.log && exit 77
        exit 1
    fi
done
doctor after
XDG_CACHE_HOME=/tmp stapgen build dropwatch -r $R -o /lab/work/after.ko -q
"""


def prepare(lab):
    shutil.copy("/etc/resolv.conf", lab.work / "resolv.conf")
    done = lab.chroot(["env", f"R={lab.release}", f"SYMBOLS={lab.symbols}", f"PROXY={' '.join(proxy_options())}",
                       f"SCRIPT={SCRIPT}", "sh", "-c", ENTER], check=False)
    print(done.stdout + done.stderr)
    if done.returncode == 77:
        lab.skip("the archive does not deliver these packages today")
    assert done.returncode == 0, done.returncode
    compare_symbol_tables(lab)


def compare_symbol_tables(lab):
    """The recipes that the doctor says need a symbol table are those that stap fails to compile without."""
    stated = lab.stapgen(["doctor", "-r", lab.release, "--json"], check=False)
    document = json.loads(stated.stdout)
    print(f"{lab.suite}: without symbols able {document['able']}, unable {document['unable']}")
    assert "dropwatch" in document["able"] and "rx-latency" in document["unable"]
    for name in [*document["able"], *document["unable"]]:
        if name == "softnet":
            continue
        done = lab.stapgen(["build", name, "-r", lab.release, "--no-workaround", "symbol-table", "-o", "/lab/work/x.ko"],
                           check=False)
        assert (done.returncode == 0) == (name in document["able"]), f"{name}: {done.returncode}\n{done.stderr}"


def check(lab):
    def missing(name):
        return {row["check"] for row in json.loads(lab.read(f"{name}.json"))["checks"] if row["state"] == "missing"}

    print(f"{lab.suite}: missing {missing('before')}, {missing('broken')}, {missing('after')}")
    assert not missing("before")
    # Without the headers nothing tells which compiler they want.
    assert {"systemtap", "headers"} <= missing("broken")
    assert not missing("after")
    assert re.match(rb"\x7fELF", (lab.work / "after.ko").read_bytes())
