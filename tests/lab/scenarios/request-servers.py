# SPDX-License-Identifier: GPL-2.0-or-later
"""sock-latency --parts of real servers of Debian: what share of app is divided, beside what the servers say themselves.

By hand: it fetches packages that the root has not. STAPGEN_LAB_SERVERS="nginx redis" chooses some of them.
"""

import collections
import json
import os
import re
import shlex
from statistics import median

from lablib.captures import unpack_packages
from lablib.events import Trace
from lablib.server_files import BACKEND_MS, FILES, HOLD_MS, PHP, POSTGRES, SLEEP_MS
from lablib.waits import parts_of_app

DESCRIPTION = "what requests of nginx, php-fpm, redis, PostgreSQL, Caddy and Python wait for, by hand"
IN_CI = ()
TIMEOUT = 3600
BUILD = {"parts": ["sock-latency", "--parts"]}

SERVERS = ("nginx", "php", "redis", "postgres", "caddy", "python")
CHOSEN = os.environ.get("STAPGEN_LAB_SERVERS", " ".join(SERVERS)).split()
PACKAGES = {"php": ["php8.4-fpm"], "postgres": ["postgresql-17"], "caddy": ["caddy"]}
TOOLS = "/lab/work/tools/usr"
NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups"
# NAME: (server, port, comm, command that makes the load)
RUNS = {
    "nginx-each-1": ("nginx", 8080, "nginx", "get 1 101 8080/each"),
    "nginx-each-4": ("nginx", 8080, "nginx", "get 4 203 8080/each"),
    "nginx-two-6": ("nginx", 8080, "nginx", "get 3 101 8080/each & get 3 203 8080/fast; wait $!"),
    "nginx-disk-1": ("nginx", 8080, "nginx", "get 1 53 8080/disk"),
    "nginx-disk-4": ("nginx", 8080, "nginx", "get 4 53 8080/disk"),
    "nginx-kept-4": ("nginx", 8080, "nginx", "get 4 203 8080/kept"),
    "nginx-file-4": ("nginx", 8080, "nginx", "get 4 203 8080/file"),
    "nginx-php-1": ("php", 8080, "nginx", "get 1 101 8080/tcp/sleep"),
    "nginx-php-4": ("php", 8080, "nginx", "get 4 203 8080/tcp/sleep"),
    "nginx-php-lock-4": ("php", 8080, "nginx", "get 4 203 8080/tcp/lock"),
    "nginx-unix-1": ("php", 8080, "nginx", "get 1 101 8080/unix/sleep"),
    "nginx-unix-4": ("php", 8080, "nginx", "get 4 203 8080/unix/sleep"),
    "php-sleep": ("php", 9000, "php-fpm8.4", "get 4 203 8080/tcp/sleep"),
    "php-lock": ("php", 9000, "php-fpm8.4", "get 4 203 8080/tcp/lock"),
    "php-run": ("php", 9000, "php-fpm8.4", "get 4 101 8080/tcp/run"),
    "redis-get": ("redis", 6379, "redis-server", "bench 4 407 get key"),
    "redis-sleep-1": ("redis", 6379, "redis-server", "bench 1 53 debug sleep 0.013"),
    "redis-sleep-4": ("redis", 6379, "redis-server", "bench 4 53 debug sleep 0.013"),
    "redis-lua-4": ("redis", 6379, "redis-server", "bench 4 53 eval 'for i=1,99999 do end' 0"),
    "postgres-sleep": ("postgres", 5432, "postgres", "transact 2 53 sleep"),
    "postgres-lock": ("postgres", 5432, "postgres", "transact 2 53 lock"),
    "postgres-commit": ("postgres", 5432, "postgres", "transact 3 53 commit"),
    "caddy-1": ("caddy", 8081, "caddy", "get 1 101 8081/slow"),
    "caddy-4": ("caddy", 8081, "caddy", "get 4 203 8081/slow"),
    "python-sleep": ("python", 8082, "python3", "get 3 101 8082/sleep"),
    "python-lock": ("python", 8082, "python3", "get 3 101 8082/lock"),
    "python-run": ("python", 8082, "python3", "get 3 53 8082/run"),
    "python-ask": ("python", 8082, "python3", "get 3 101 8082/ask"),
    "asyncio-1": ("python", 8083, "python3", "get 1 101 8083/sleep"),
    "asyncio-ask-4": ("python", 8083, "python3", "get 4 203 8083/ask"),
    "asyncio-4": ("python", 8083, "python3", "get 4 203 8083/sleep"),
}
MEASURES = {server: "\n".join(f"measure {name} {port} {comm} {shlex.quote(load)}" for name, (of, port, comm, load) in RUNS.items()
                              if of == server) for server in SERVERS}

GUEST = f"""
POSTGRES={TOOLS}/lib/postgresql/17/bin
get() {{ ab -q -k -c $1 -n $2 http://127.0.0.1:$3; }}
bench() {{ local clients=$1 n=$2; shift 2; redis-benchmark -q -c $clients -n $n "$@"; }}
in_postgres() {{ env LD_LIBRARY_PATH={TOOLS}/lib/x86_64-linux-gnu {NOBODY} "$@"; }}
query() {{ in_postgres $POSTGRES/psql -h 127.0.0.1 -U postgres -d postgres -Atc "$1"; }}
transact() {{ in_postgres $POSTGRES/pgbench -h 127.0.0.1 -U postgres -n -c $1 -t $2 -f $3.sql postgres; }}
# measure NAME PORT COMM LOAD
measure() {{
    before
    record $1 parts --port $2 --comm $3 || exit 1
    eval "$4" >$1.load 2>&1 || {{ echo "$1: the load failed"; cat $1.load; exit 1; }}
    end_records $1
    after $1
}}
before() {{ :; }}
after() {{ :; }}
python_server() {{ python3 server.py $1 >$2 2>$2.err & wait_port $1; }}
nginx_proxy() {{
    nc -z 127.0.0.1 8080 && return
    mkdir -p /tmp/www && head -c 10007 /dev/zero >/tmp/www/file && head -c 1000003 /dev/urandom >/tmp/www/disk && sync || return
    nginx -e stderr -c /lab/work/nginx.conf & wait_port 8080
}}
keep_times() {{ cp nginx.log $1.times; : >nginx.log; }}
run_nginx() {{
    python_server 8090 backend.log && nginx_proxy || return
    after() {{ keep_times $1; }}
    {MEASURES["nginx"]}
}}
run_php() {{
    nginx_proxy && mkdir -p /tmp/www/tcp && cp *.php /tmp/www/tcp && cp -r /tmp/www/tcp /tmp/www/unix || return
    LD_LIBRARY_PATH={TOOLS}/lib/x86_64-linux-gnu {TOOLS}/sbin/php-fpm8.4 -n -R -F -y fpm.conf 2>php-fpm.log &
    wait_port 9000 || return
    for script in {" ".join(PHP)}; do get 4 53 8080/tcp/$script && get 4 53 8080/unix/$script || return; done >warm.load
    : >nginx.log
    after() {{ keep_times $1; }}
    {MEASURES["php"]}
}}
run_redis() {{
    start_redis --enable-debug-command yes --slowlog-log-slower-than 0 --slowlog-max-len 1000 || return
    redis-cli set key value
    before() {{ redis-cli slowlog reset; }}
    after() {{ redis-cli --json slowlog get -1 >$1.slowlog; }}
    {MEASURES["redis"]}
}}
run_postgres() {{
    cp -r pg /pg && chown -R 65534 /pg && chmod 700 /pg && sync || return
    in_postgres $POSTGRES/postgres -D /pg >>/tmp/postgres.log 2>&1 &
    wait_for "query 'select 1'" || {{ cat /tmp/postgres.log; return 1; }}
    query "create table t (id int primary key, n int); insert into t select i, 0 from generate_series(1, 5) i; checkpoint"
    before() {{ query "select pg_stat_reset_shared('wal')"; : >/tmp/postgres.log; }}
    after() {{
        query "select wal_sync, wal_sync_time * 1000, wal_write, wal_write_time * 1000 from pg_stat_wal" >$1.wal
        cp /tmp/postgres.log $1.log
    }}
    echo "select pg_sleep(0.0{SLEEP_MS});" >sleep.sql
    printf '%s\\n' "begin;" "select n from t where id = 1 for update;" "select pg_sleep(0.00{HOLD_MS});" "commit;" >lock.sql
    printf '%s\\n' '\\set n random(1, 5)' "update t set n = n + 1 where id = :client_id + 1;" >commit.sql
    {MEASURES["postgres"]}
}}
run_caddy() {{
    python_server 8091 caddy-backend.log || return
    HOME=/tmp XDG_DATA_HOME=/tmp XDG_CONFIG_HOME=/tmp {TOOLS}/bin/caddy run --adapter caddyfile --config Caddyfile >caddy.log 2>&1 &
    wait_port 8081 || return
    {MEASURES["caddy"]}
}}
run_python() {{
    wait_for "nc -z 127.0.0.1 8090" & WAITS=$!
    nc -z 127.0.0.1 8090 || python_server 8090 python-backend.log || return
    wait $WAITS
    python_server 8082 python.log || return
    python3 asynchronous.py 8083 >asyncio.log 2>&1 & wait_port 8083 || return
    {MEASURES["python"]}
}}
for server in {" ".join(CHOSEN)}; do ( run_$server ) || {{ echo "$server failed"; exit 1; }}; done
finish
"""


def prepare(lab):
    packages = sorted({package for server in CHOSEN for package in PACKAGES.get(server, ())})
    if packages:
        unpack_packages(lab, *packages)
    for name, text in FILES.items():
        (lab.work / name).write_text(text)
    if "postgres" in CHOSEN:
        (lab.work / "pg").mkdir()
        lab.chroot(["sh", "-c", f"chown 65534 pg && LD_LIBRARY_PATH={TOOLS}/lib/x86_64-linux-gnu TZ=GMT {NOBODY} "
                    f"{TOOLS}/lib/postgresql/17/bin/initdb -A trust -U postgres --no-locale -E UTF8 -N -D pg -c timezone=GMT -c log_timezone=GMT"])
        with open(lab.work / "pg/postgresql.conf", "a", encoding="utf-8") as config:
            config.write(POSTGRES)


def port_of(text):
    return int(text.rsplit(":", 1)[1])


def said_by_nginx(lab, name):
    """Return what the server says of each request: [(its client's port, ms)], in their order. nginx: of its backend."""
    lines = [line.split() for line in lab.read(f"{name}.times").splitlines()]
    return [(int(port), float(ms) * 1000) for port, _, _, ms, _ in lines if ms != "-"]


def said_by_php(lab, name):
    """Of each process: nginx has a connection of its own for each request."""
    took = [line.split()[-1].split(":") for line in lab.read(f"{name}.times").splitlines()]
    return [(int(pid), int(ns) / 1e6) for pid, ns in took]


def said_by_redis(lab, name):
    return [(port_of(row[4]), row[2] / 1000) for row in sorted(json.loads(lab.read(f"{name}.slowlog")))]


def said_by_postgres(lab, name, statement=""):
    """How long each statement has waited for locks, else how long it took."""
    said, waited = [], collections.Counter()
    of_lock = re.compile(r"\S*\((\d+)\) LOG:  process \d+ acquired .* after ([\d.]+) ms")
    of_statement = re.compile(r"\S*\((\d+)\) LOG:  duration: ([\d.]+) ms  statement: (.*)")
    for line in lab.read(f"{name}.log").splitlines():
        if found := of_lock.match(line):
            waited[int(found[1])] += float(found[2])
        elif found := of_statement.match(line):
            port = int(found[1])
            said.append((port, waited.pop(port, 0) if name == "postgres-lock" else float(found[2])))
    return said


def said_by_python(lab, name):
    lines = [line.split() for line in lab.read("asyncio.log" if name.startswith("asyncio") else "python.log").splitlines()]
    return [(int(port), int(ns) / 1e6) for port, path, ns in lines if name.endswith(path[1:])]


def said_by_backend(_, __):
    """It does not know for which client it has worked, but that is never less."""


# An answer that lies there while the loop works for others, or has no CPU, is in what nginx says.
ASKED = ("server", "process", "other-sockets", "run-queue")
# NAME: (who says it, the parts that it is)
SAID = {
    "nginx-each-1": (said_by_nginx, ASKED),
    "nginx-each-4": (said_by_nginx, ASKED),
    "nginx-two-6": (said_by_nginx, ASKED),
    "nginx-kept-4": (said_by_nginx, ASKED),
    "nginx-php-1": (said_by_nginx, ASKED),
    "nginx-php-4": (said_by_nginx, ASKED),
    "nginx-php-lock-4": (said_by_nginx, ASKED),
    "nginx-unix-1": (said_by_nginx, ASKED),
    "php-sleep": (said_by_php, ("timer", "run-queue")),
    "php-lock": (said_by_php, ("kernel-lock", "run-queue")),
    "php-run": (said_by_php, ("running",)),
    "redis-sleep-1": (said_by_redis, ("timer", "run-queue")),
    "redis-sleep-4": (said_by_redis, ("timer", "run-queue")),
    "redis-lua-4": (said_by_redis, ("running", "run-queue")),
    "postgres-sleep": (said_by_postgres, ("timer", "run-queue")),
    "postgres-lock": (said_by_postgres, ("process", "asleep", "run-queue")),
    "caddy-1": (said_by_backend, ("server", "goroutine")),
    "caddy-4": (said_by_backend, ("server", "goroutine")),
    "python-lock": (said_by_python, ("futex", "lock", "run-queue")),
    "python-run": (said_by_python, ("run-queue",)),
    "python-ask": (said_by_python, ("server",)),
    "asyncio-ask-4": (said_by_python, ("server",)),
}
# What is said there is from one request's end to the next one's.
NO_MORE_THAN_SAID = {"python-run"}
NEAR_MS = 2  # nginx says whole ms


def differ(name, said, found):
    if SAID[name][0] is said_by_backend:
        return found < said - 0.1
    return found > said + NEAR_MS or (found < said - NEAR_MS and name not in NO_MORE_THAN_SAID)


def compare(lab, name, events, skipped):
    """Compare what the server says with what the parts say, for each request that is divided."""
    who, which = SAID[name]
    said = collections.defaultdict(list)
    of = (lambda event: event["pid"]) if who is said_by_php else (lambda event: port_of(event["remote"]))
    for key, ms in who(lab, name) or [(of(event), BACKEND_MS) for event in events]:
        said[key].append(ms)
    found = collections.defaultdict(list)
    for event in sorted(events, key=lambda event: event["time_ns"]):
        found[of(event)].append(event)
    pairs = []
    for key, of_key in found.items():
        # A connection may begin with requests that the server does not log.
        if told := said[key]:
            pairs += zip(told, of_key[-len(told):])
    assert pairs, name
    rows = [(ms, sum(parts_of_app(event).get(part, 0) for part in which) / 1e6, event) for ms, event in pairs
            if parts_of_app(event).get("undivided", 0) + parts_of_app(event).get("handed-over", 0) < event["app_ns"] / 20]
    wrong = [row for row in rows if differ(name, row[0], row[1])]
    if rows:
        print(f"    {'+'.join(which)}: of {len(rows)} of {len(pairs)}: said {sum(ms for ms, *_ in rows):.2f} ms, found "
              f"{sum(ms for _, ms, _ in rows):.2f}; medians {median(ms for ms, *_ in rows):.3f}, "
              f"{median(ms for _, ms, _ in rows):.3f}; {len(wrong)} differ")
    for ms, part, event in wrong[:3]:
        print(f"      said {ms:.3f} found {part:.3f} {({part: round(ns / 1e6, 3) for part, ns in parts_of_app(event).items()})}")
    # Each may be a switch of a thread: it counts as running while it waits.
    assert len(wrong) <= skipped, name


def show(lab, name, port):
    trace = Trace(lab, name, skips=True)
    events = trace.of_port(port)
    total = collections.Counter()
    for event in events:
        assert sum(parts_of_app(event).values()) == event["app_ns"], (name, event)
        total.update(parts_of_app(event))
    app = sum(event["app_ns"] for event in events)
    divided = 1 - (total["handed-over"] + total["undivided"]) / app
    print(f"  {name}: {len(events)} requests, app {app / len(events) / 1e6:.3f} ms mean, divided {divided:.1%}: "
          + ", ".join(f"{part} {ns / app:.1%}" for part, ns in total.most_common()))
    if name in SAID:
        compare(lab, name, events, trace.accounting["skipped_probes"])


def check(lab):
    for name, (server, port, _, _) in RUNS.items():
        if server in CHOSEN:
            show(lab, name, port)
