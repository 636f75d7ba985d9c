# SPDX-License-Identifier: GPL-2.0-or-later
"""page-alloc against a program that takes a known number of pages, and once more without them."""

from lablib.events import read_report

DESCRIPTION = "10,007 pages that a program takes are counted for it, and what its page tables need"
IN_CI = ("trixie",)
ALSO_ON = ("trixie-cloud", "trixie-rt")
BUILD = {"pages": ["page-alloc", "--interval", "1"]}

PAGES = 10007

GUEST = rf"""
pages --count 0 >warm-up || exit 1
record all pages || exit 1
grep ^pgalloc_ /proc/vmstat >before
pages --count 0 >without || exit 1
sleep 1
pages --count {PAGES} >with || exit 1
grep ^pgalloc_ /proc/vmstat >after
end_records all

# Only one process; the others are filtered.
sh -c 'echo $$ >pid; while [ ! -e go ]; do sleep 0.1; done; exec pages --count {PAGES} >target' &
target=$!
wait_for 'test -s pid'
record one pages -p $(cat pid) || exit 1
pages --count {PAGES} >other
touch go
wait $target
end_records one
finish
"""


def pages_of(report, process):
    """Return how many pages that process took by the name "pages"."""
    return sum(row["count"] for row in report["counts"] if row["group"] == {"comm": "pages", "pid": process})


def allocated(lab, name):
    return sum(int(line.split()[1]) for line in lab.read(name).splitlines())


def check(lab):
    report = read_report(lab, "all")
    said = {name: lab.read(name).split() for name in ("without", "with", "target", "other")}
    without, taken = (pages_of(report, int(said[name][1])) for name in ("without", "with"))
    tables = int(said["with"][4])
    account = report["accounting"]
    within = allocated(lab, "after") - allocated(lab, "before")
    print(f"{lab.suite}: {without} pages without, {taken} with: {taken - without} = {PAGES} + {taken - without - PAGES}, "
          f"of page tables {tables}")
    print(f"{lab.suite}: {account['reported']} pages in all; the kernel's pgalloc counters rose by {within} within")
    softirq = sum(row["count"] for row in report["counts"] if row["group"]["comm"] == "[softirq]")
    print(f"{lab.suite}: {softirq} pages of softirqs, rows: {len(report['counts'])}")
    assert account["filtered"] == account["lost"] == 0
    # A table may be there already, for the mapping's neighbour. At its end the mapping is taken apart in batches of some
    # 500 pages, of which a list is kept, itself in pages.
    least, most = PAGES + tables - 1, PAGES + tables + PAGES // 500 + 3
    assert least <= taken - without <= most, (least, taken - without, most)
    assert sum(row["count"] for row in report["counts"]) == account["reported"]

    one = read_report(lab, "one")
    account = one["accounting"]
    print(f"{lab.suite} -p: {account['reported']} pages reported, {account['filtered']} filtered")
    assert {row["group"]["pid"] for row in one["counts"]} == {int(said["target"][1])}
    assert pages_of(one, int(said["target"][1])) >= PAGES and account["filtered"] >= PAGES
    assert lab.read("modules-left").strip() == "0"
