# SPDX-License-Identifier: GPL-2.0-or-later
"""new-recipe: what it makes runs as it is, from the user's folder, and its numbers are those of known traffic."""

import json
import re

from lablib.events import read_report

DESCRIPTION = "a new recipe, untouched: check, show, help, run, filters, parameter, report, compare, HTML, against known calls"
LIVE = True
IN_CI = ("trixie",)

REQUESTS, BYTES = 503, 64
WHERE = "        filtered <<< 1\n    } else if (bytes <= 0)"
# In place of what counts there, and what is said of it; the place is that of the character behind ^.
MISTAKES = {"filtered <<< ^no_such_call(1)": "unknown function",
            "filtered <<< entered + ^\"text\"": "instead of long",
            "filtered << ^<< 1": "expected literal"}

GUEST = r"""
export HOME=/lab/work/home
start_ready serve --port 7001 --read recv || exit 1
# calls NAME [OPTION]...: 503 requests while the new recipe's module measures.
calls() {
    local name=$1
    record $name calls "${@:2}" || exit 1
    ask --port 7001 --requests 503 >>$name.traffic || exit 1
    end_records $name
}
calls server --comm serve
calls again --comm serve
calls nobody --comm no-such-name
record least least --comm serve || exit 1
ask --port 7001 --requests 503 >least.traffic || exit 1
end_records least
# Without root.
mkdir -m 777 /tmp/nobody
setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=$PATH HOME=/tmp/nobody \
    stapgen --recipe-path recipes check tcp-calls >check.txt 2>&1 && exit 1

# Typed as its user types it, with the stap of the machine.
stapgen tcp-calls --comm serve -i 1 >typed.out 2>typed.err &
tracer=$!
wait_traced typed.err || exit 1
ask --port 7001 --requests 503 >typed.traffic || exit 1
sleep 2
kill -INT $tracer
wait $tracer
echo $? >typed.exit
finish
"""


def prepare(lab):
    home = {"HOME": "/lab/work/home"}
    made = lab.stapgen(["new-recipe", "tcp-calls"], env=home)
    print(made.stdout)
    target = ["-r", lab.release, "--symbols", lab.symbols]
    check_check(lab, target)
    build = ["build", "tcp-calls", *target]
    for name, options in (("calls", []), ("least", ["--min-bytes", str(BYTES + 1)]), ("warm", ["-i", "1"])):
        lab.stapgen([*build, *options, "-o", f"/lab/work/{name}.ko"], env=home)


def check_check(lab, target):
    """stapgen check: what it makes is right, and mistakes are told by their place in script.stp."""
    recipes = lab.work / "recipes"
    lab.stapgen(["new-recipe", "tcp-calls", "--into", "/lab/work/recipes"])
    check = ["--recipe-path", "/lab/work/recipes", "check", "tcp-calls", *target]
    done = lab.stapgen(check)
    assert done.stdout == f"tcp-calls: compiles for {lab.release}\n", (done.stdout, done.stderr)
    # In SystemTap before 5.0 a variable may go without its lock in a branch: whoever writes a recipe has to look.
    warned = re.findall(r"^stapgen: warning: ([^:]+): ", done.stderr, re.M)
    assert warned == (["branch-locks"] if lab.stap.startswith("4.") else []), done.stderr
    script = recipes / "tcp-calls/script.stp"
    right = script.read_text()
    for wrong, reason in MISTAKES.items():
        text = right.replace(WHERE, WHERE.replace("filtered <<< 1", wrong.replace("^", "")))
        assert text != right
        script.write_text(text)
        # The guest's user reads the last one.
        for path in (recipes, *recipes.rglob("*")):
            path.chmod(0o755)
        done = lab.stapgen(check, check=False)
        place = place_of(lab, wrong)
        print(done.stderr.splitlines()[-2:])
        assert done.returncode == 1 and reason in done.stderr and place in done.stderr, (place, done.stderr)


def place_of(lab, wrong):
    """Return where script.stp has WRONG: of the character behind ^."""
    lines = (lab.work / "recipes/tcp-calls/script.stp").read_text().splitlines()
    line = next(number for number, line in enumerate(lines, 1) if wrong.replace("^", "") in line)
    return f"/lab/work/recipes/tcp-calls/script.stp:{line}:{lines[line - 1].index(wrong.replace('^', '')) + wrong.index('^') + 1}"


def stapgen(lab, *argv, check=True):
    """Run stapgen on this machine with the user's recipes."""
    return lab.analyse(argv, check=check, env={"HOME": str(lab.work / "home")})


def load(lab, name):
    report = read_report(lab, name)
    account = report["accounting"]
    print(f"{lab.suite} {name}: {account}")
    assert account["closed"] and not account["skipped_probes"], account
    stages = {stage["stage"]: stage for stage in report["stages"] if not stage["group"]}
    return account, stages, {row["group"].get("comm") for row in report["stages"] if row["group"]}, report


def check(lab):
    account, stages, threads, report = load(lab, "server")
    # Beside the requests, the server's calls find no data, or the end of a connection.
    assert account["reported"] == stages["took"]["n"] == REQUESTS and threads == {"serve"}, (account, threads)
    bytes_read = next(value for value in report["values"] if not value["group"])
    assert bytes_read["n"] == REQUESTS and bytes_read["min"] == bytes_read["max"] == BYTES, bytes_read
    assert account["filtered"] >= REQUESTS, "the client reads as often"
    account, *_ = load(lab, "nobody")
    assert account["reported"] == 0 and account["seen"] == account["filtered"] >= 2 * REQUESTS
    account, *_ = load(lab, "least")
    assert account["reported"] == 0 and account["filtered"] >= 2 * REQUESTS

    assert place_of(lab, list(MISTAKES)[-1]).removeprefix("/lab/work/") in lab.read("check.txt"), lab.read("check.txt")
    # On one of the kernels it may last too short to be compared.
    compared = stapgen(lab, "compare", "server.rec", "again.rec", "--format", "json", check=False)
    assert compared.returncode in (0, 7) and {change["stage"] for change in json.loads(compared.stdout)["changes"]} >= {"took"}, compared
    assert "took" in stapgen(lab, "report", "server.rec", "--format", "html").stdout
    shown = json.loads(stapgen(lab, "show", "tcp-calls", "--json").stdout)
    assert shown["name"] == "tcp-calls" and "my-recipe" not in json.dumps(shown), shown
    assert "--min-bytes" in stapgen(lab, "tcp-calls", "--help").stdout
    print(lab.read("typed.err") + lab.read("typed.out"))
    assert lab.read("typed.exit").strip() == "0"
    total = lab.read("typed.out")
    counts = [int(n) for n in re.findall(r"^took +(\d+)", total, re.M)]
    assert counts and counts[-1] == REQUESTS, counts
    assert lab.read("modules-left").strip() == "0"
