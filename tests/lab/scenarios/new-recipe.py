"""new-recipe: what it makes runs as it is, from the user's folder, and its numbers are those of known traffic."""

import json
import re

DESCRIPTION = "a new recipe, untouched: show, help, run, filters, parameter, report, compare, HTML, against known calls"
IN_CI = ("trixie",)

REQUESTS, BYTES = 503, 64

GUEST = r"""
export HOME=/lab/work/home
start_ready serve --port 7001 --read recv || exit 1
# calls NAME [OPTION]...: 503 requests while the new recipe's module measures.
calls() {
    local name=$1
    report $name json calls -o $name.rec --format json "${@:2}" || exit 1
    ask --port 7001 --requests 503 >>$name.traffic || exit 1
    end_trace $name
}
calls server --comm serve
calls again --comm serve
calls nobody --comm no-such-name
report least json least --comm serve --format json || exit 1
ask --port 7001 --requests 503 >least.traffic || exit 1
end_trace least
stapgen compare server.rec again.rec >compare.txt
echo $? >compare.exit
stapgen report server.rec --format html >server.html || exit 1
stapgen report server.rec >server.txt || exit 1
stapgen tcp-calls --help >help.txt && stapgen show tcp-calls >show.txt || exit 1

# Typed as its user types it, with the stap of the machine.
stapgen tcp-calls --comm serve -i 1 >typed.out 2>typed.err &
tracer=$!
wait_traced typed.err || { cat typed.err; exit 1; }
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
    build = ["build", "tcp-calls", "-r", lab.release, "--symbols", lab.symbols]
    for name, options in (("calls", []), ("least", ["--min-bytes", str(BYTES + 1)]), ("warm", ["-i", "1"])):
        lab.stapgen([*build, *options, "-o", f"/lab/work/{name}.ko"], env=home)


def load(lab, name):
    assert lab.read(f"{name}.exit").strip() == "0", lab.read(f"{name}.err")
    report = json.loads(lab.read(f"{name}.json"))
    account = report["accounting"]
    print(f"{lab.suite} {name}: {account}")
    assert account["closed"] and account["unaccounted"] == 0 and not account["skipped_probes"], account
    stages = {stage["stage"]: stage for stage in report["stages"] if not stage["group"]}
    return account, stages, {row["group"].get("comm") for row in report["stages"] if row["group"]}


def check(lab):
    account, stages, threads = load(lab, "server")
    # Beside the requests, the server's calls find no data, or the end of a connection.
    assert account["reported"] == stages["took"]["n"] == REQUESTS and threads == {"serve"}, (account, threads)
    bytes_read = next(value for value in json.loads(lab.read("server.json"))["values"] if not value["group"])
    assert bytes_read["n"] == REQUESTS and bytes_read["min"] == bytes_read["max"] == BYTES, bytes_read
    assert account["filtered"] >= REQUESTS, "the client reads as often"
    account, _, _ = load(lab, "nobody")
    assert account["reported"] == 0 and account["seen"] == account["filtered"] >= 2 * REQUESTS
    account, _, _ = load(lab, "least")
    assert account["reported"] == 0 and account["filtered"] >= 2 * REQUESTS

    assert lab.read("compare.exit").strip() == "0" and "took" in lab.read("compare.txt")
    assert "<html" in lab.read("server.html") and "took" in lab.read("server.html")
    assert "--min-bytes" in lab.read("help.txt") and "--comm" in lab.read("help.txt")
    assert "tcp-calls" in lab.read("show.txt") and "my-recipe" not in lab.read("show.txt")
    print(lab.read("typed.err") + lab.read("typed.out"))
    assert lab.read("typed.exit").strip() == "0"
    total = lab.read("typed.out")
    counts = [int(n) for n in re.findall(r"^took +(\d+)", total, re.M)]
    assert counts and counts[-1] == REQUESTS, counts
    assert lab.read("modules-left").strip() == "0"
