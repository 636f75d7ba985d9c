#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_integrations.py STAPGEN SERVE_FAKE SOURCE: each file of integrations/ is loaded by the program that it is for.

Each expression of the dashboard and of the rules is asked of a real Prometheus that scrapes serve, both ways: it is
understood, names no metric that serve does not have, and each panel shows something.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
from daemon import HANGS, PROTOBUF, Recipe, serve_fake, wait_for  # noqa: E402
from prometheus import Prometheus  # noqa: E402
from protobuf import delimited  # noqa: E402

VARIABLES = {"$__rate_interval": "1m", "$instance": ".*", "$recipe": ".*", "$stage": ".*"}
# Of what nothing is known while the recipes run.
NOT_NOW = {"stapgen_probe_cpu_seconds_total"}


def check_unit(stapgen, source, folder):
    """systemd knows each of its lines."""
    if not shutil.which("systemd-analyze"):
        print("skipped: there is no systemd-analyze")
        return
    unit = folder / "stapgen-serve.service"
    text = (source / "systemd/stapgen-serve.service").read_text()
    assert "=/usr/bin/stapgen serve" in text
    unit.write_text(text.replace("/usr/bin/stapgen", str(stapgen)))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr
    # What it starts, as it would: the words of ExecStart.
    command = re.search(r"^ExecStart=(.*)$", unit.read_text(), re.M)[1].replace("%%", "%")
    words = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]
    done = subprocess.run([*words, "--dry-run"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "sock-latency --budget 2% --remote" in done.stdout, done.stdout + done.stderr


def check_rules(source, tests, folder):
    for file in (source / "prometheus/stapgen.rules.yml", tests / "rules-test.yml"):
        shutil.copy(file, folder)
    for words in (["check", "rules", "stapgen.rules.yml"], ["test", "rules", "rules-test.yml"]):
        done = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def expressions(source):
    """Yield (what it is of, [expressions]) of each panel, and of each rule."""
    dashboard = json.loads((source / "grafana/stapgen.json").read_text())
    for panel in dashboard["panels"]:
        yield "panel " + panel["title"], [target["expr"] for target in panel["targets"]]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            selector = re.fullmatch(r"label_values\((.*), \w+\)", variable["definition"])[1]
            yield "variable " + variable["name"], [selector]


def rules(prometheus):
    """The same of the rules, as Prometheus has read them."""
    with urllib.request.urlopen(f"http://127.0.0.1:{prometheus.port}/api/v1/rules", timeout=HANGS) as answer:
        for group in json.load(answer)["data"]["groups"]:
            for rule in group["rules"]:
                yield rule["name"], rule["query"]


def names_in(expression):
    without_labels = re.sub(r"\{[^}]*\}|\b(?:by|on|group_left) \([^)]*\)", "", expression)
    return set(re.findall(r"(?<![:\w])stapgen_\w+", without_labels + "".join(re.findall(r'__name__=~"([^"]*)"', expression))))


def with_values(expression):
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


def exposed(serve):
    """All names that a scraper gets in any format."""
    names = {family[1][0].decode() for family in delimited(serve.get(accept=PROTOBUF)[2])}
    return names | {name for name, _ in serve.samples()}


def send_all(rx, drops, counts, number):
    """What makes each family rise."""
    for recipe, lines in ((rx, []), (drops, ["drop\tffffffff00000001\t3\t17"]), (counts, ["counter\tUdp.NoPorts\t-\t7"])):
        if recipe is rx:
            rx.send_values(**{"drv-ip": [1009] * 7, "ip-tcp": [20011] * 7})
        recipe.send(*lines)
        n = {rx: 7, drops: 17, counts: 7}[recipe] * number
        recipe.tick(n + number, n, f"filtered={number}", "incomplete.unread=1")


def check_expressions(serve_program, source, folder):
    recipes = (Recipe(folder, "rx", ["time:time", "drv-ip:stage", "ip-tcp:stage"]),
               Recipe(folder, "drops", ["location:address", "reason:reason", "count:count"], tag="drop"),
               Recipe(folder, "counts", ["name:text,key", "of:text,key", "rise:count"], tag="counter"))
    failing = Recipe(folder, "failing", ["time:time", "drv-ip:stage"])
    for way in ("native", "classic"):
        (folder / way).mkdir()
    with serve_fake(serve_program, *recipes, failing) as serve:
        native = Prometheus(folder / "native", {"web1": serve.port}, "--enable-feature=native-histograms",
                            rules=source / "prometheus/stapgen.rules.yml")
        with native, Prometheus(folder / "classic", {"web1": serve.port}) as classic:
            failing.die(6, "stapgen: it took too much")
            recipes[0].keep("/var/lib/stapgen/rx.rec")
            for recipe in recipes:
                recipe.begin()
            # A rate takes two scrapes.
            for number in range(1, 4):
                send_all(*recipes, number)
                # 7 and 17 and 7, and one of each that was left out.
                for prometheus in (native, classic):
                    wait_for(lambda one=prometheus: one.value("sum(stapgen_seen_total)") == 34 * number)
            names = exposed(serve) | NOT_NOW
            known = list(expressions(source))
            known += [(f"rule {name}", [query]) for name, query in rules(native)]
            assert len(known) > 25, known
            for of, all_of_it in known:
                unknown = set().union(*map(names_in, all_of_it)) - names
                assert not unknown, f"{of}: serve has no {unknown}"

                def shown(expressions=tuple(map(with_values, all_of_it))):
                    return sum(len(one.ask(expression)) for one in (native, classic) for expression in expressions)

                # A panel shows nothing where the last scrape failed.
                assert shown() or of.startswith("rule ") or wait_for(shown), f"{of} shows nothing"
        serve.stop()


def main():
    stapgen, serve_program, source = [pathlib.Path(word).resolve() for word in sys.argv[1:]]
    integrations, tests = source / "integrations", source / "tests/integrations"
    for check, *words in ((check_unit, stapgen, integrations), (check_rules, integrations, tests),
                          (check_expressions, str(serve_program), integrations)):
        with tempfile.TemporaryDirectory() as folder:
            check(*words, pathlib.Path(folder))
            print(check.__name__)


main()
