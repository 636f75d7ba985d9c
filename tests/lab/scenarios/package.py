# SPDX-License-Identifier: GPL-2.0-or-later
"""package: the Debian package is installed on a clean machine, used by its name, and removed with all it brought."""

import json

from lablib.events import read_report

DESCRIPTION = "the Debian package: installed, used by its name in chroot and guest, removed; nothing is left"
LIVE = True
ALONE = "it installs"
IN_CI = ("trixie",)

REQUESTS = 211
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BROUGHT = ["bin/stapgen", "share/stapgen/templates/rx-latency/recipe.toml", "share/man/man1/stapgen.1.gz",
           "share/man/man1/stapgen-rx-latency.1.gz", "share/bash-completion/completions/stapgen",
           "share/zsh/vendor-completions/_stapgen", "share/fish/vendor_completions.d/stapgen.fish",
           "share/doc/stapgen/copyright", "share/doc/stapgen/THIRD-PARTY-NOTICES.md"]

# The roots are installed without manuals and documentation.
CHROOT = r"""
set -e
files() { find /usr /etc /opt /var/lib/dpkg/info /var/lib/dpkg/alternatives /root -xdev | sort; }
files >/tmp/before
apt-get -qq -y -o DPkg::Options::=--path-include=/usr/share/man/* -o DPkg::Options::=--path-include=/usr/share/doc/* \
    install /lab/work/stapgen.deb >&2
files >/tmp/installed
comm -13 /tmp/before /tmp/installed
cd /
[ "$(command -v stapgen)" = /usr/bin/stapgen ]
stapgen --version >&2
stapgen list --json >/lab/work/list.json
stapgen build rx-latency -r "$1" --symbols "$2" -o /lab/work/rx.ko >&2
apt-get -qq -y remove stapgen >&2
files >/tmp/after
diff /tmp/before /tmp/after >&2
if dpkg -s stapgen >/dev/null 2>&1; then exit 1; fi
"""

GUEST = r"""
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/lab/traffic
dpkg -i /lab/work/stapgen.deb >install.txt 2>&1 || { cat install.txt; exit 1; }
command -v stapgen >where
start_ready serve --port 7001 --read recv || exit 1
record rx rx --port 7001 || exit 1
ask --port 7001 --requests 211 || exit 1
end_records rx
dpkg -r stapgen >remove.txt 2>&1 || { cat remove.txt; exit 1; }
find /usr /etc /opt -xdev -name '*stapgen*' >left
finish
"""


def prepare(lab):
    (lab.work / "stapgen.deb").write_bytes(lab.package().read_bytes())
    done = lab.chroot(["sh", "-c", CHROOT, "package", lab.release, lab.symbols], scratch=True,
                      env={"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"})
    print(done.stderr)
    brought = done.stdout.splitlines()
    missing = [path for path in BROUGHT if f"/usr/{path}" not in brought]
    assert not missing, f"the package lacks {missing}"
    folders = ("fish", "zsh", "man", "lintian", "bash-completion")
    others = [path for path in brought
              if "stapgen" not in path and not path.startswith(tuple(f"/usr/share/{folder}" for folder in folders))]
    assert not others, f"the package brought {others}"
    assert {recipe["name"] for recipe in json.loads(lab.read("list.json"))["recipes"]} >= {"rx-latency", "softnet"}
    assert not (lab.root.tree / "usr/bin/stapgen").exists(), "the shared root was changed"


def check(lab):
    assert lab.read("where").strip() == "/usr/bin/stapgen"
    account = read_report(lab, "rx")["accounting"]
    print(f"{lab.suite} package: {account}")
    # Requests and replies.
    assert account["closed"] and account["reported"] == 2 * REQUESTS, account
    assert lab.read("left") == "", lab.read("left")
    assert lab.read("modules-left").strip() == "0"
