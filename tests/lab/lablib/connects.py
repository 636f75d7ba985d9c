# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections that end in each way that there is, a known number of times: what makes them, and what is known of them."""

import collections

RIGHT, RIGHT6 = "10.9.0.2", "fd09::2"
NETEM_MS, LATE_MS, PROGRAM_MS, QUEUED_MS = 9, 990, 40, 50
REFUSED, TIMED_OUT, NO_NETWORK, NO_HOST, ACCESS, PERMISSION, NO_PORT = 111, 110, 101, 113, 13, 1, 99
EINVAL, EAGAIN, NO_FILE, PROTOCOL = 22, 11, 2, 92

Row = collections.namedtuple("Row", "place address port count how result errno kind mode syns dropped",
                             defaults=("established", 0, "tcp", "blocking", 1, 0))
# Namespace, where to, how many, how (programs.py), and what is expected of each. - in syns: there is none.
ROWS = [
    Row("left", RIGHT, 7701, 23, "call"),                                      # 9 ms
    Row("left", RIGHT6, 7701, 3, "call"),
    Row("left", "127.0.0.1", 7702, 7, "poll", mode="nonblocking"),
    Row("left", "127.0.0.1", 7703, 13, "call", "refused", REFUSED),
    Row("left", "::1", 7703, 2, "poll", "refused", REFUSED, mode="nonblocking"),
    Row("left", RIGHT, 7704, 3, "call", "refused", REFUSED, dropped=1),                   # reject with tcp reset
    Row("left", RIGHT, 7711, 5, "call", "icmp-port", REFUSED, dropped=1),
    Row("left", RIGHT, 7712, 3, "call", "icmp-host", NO_HOST, dropped=1),
    Row("left", RIGHT, 7713, 7, "poll", "icmp-net", NO_NETWORK, mode="nonblocking", dropped=1),
    Row("left", RIGHT, 7714, 2, "call", "icmp-protocol", PROTOCOL, dropped=1),
    Row("left", RIGHT, 7715, 11, "call", "icmp-prohibited", NO_HOST, dropped=1),
    Row("left", RIGHT6, 7711, 3, "call", "icmp-port", REFUSED, dropped=1),
    Row("left", RIGHT6, 7712, 2, "call", "icmp-host", NO_HOST, dropped=1),
    Row("left", RIGHT6, 7713, 5, "call", "icmp-net", NO_NETWORK, dropped=1),
    Row("left", RIGHT6, 7715, 2, "call", "icmp-prohibited", ACCESS, dropped=1),
    Row("left", RIGHT, 7720, 5, "wave", "no-answer", TIMED_OUT, mode="nonblocking", syns=2),   # to a device that swallows it
    Row("left", RIGHT6, 7720, 3, "wave", "no-answer", TIMED_OUT, mode="nonblocking", syns=2),
    Row("left", RIGHT, 7721, 5, "wave", "dropped-here", TIMED_OUT, mode="nonblocking", syns=2, dropped=2),   # in right
    Row("left", RIGHT6, 7721, 2, "call", "dropped-here", TIMED_OUT, syns=2, dropped=2),
    Row("left", RIGHT, 7722, 3, "wave", "dropped-here", TIMED_OUT, mode="nonblocking", syns=2, dropped=2),
    Row("left", RIGHT, 7723, 3, "wave", "answer-dropped", TIMED_OUT, mode="nonblocking", syns=2),
    Row("left", RIGHT, 7724, 2, "call", syns=2, dropped=1),                    # each first SYN is dropped here
    Row("left", RIGHT, 7725, 5, "give-up", "given-up", mode="nonblocking", dropped=1),
    Row("left", RIGHT, 7725, 3, "time-out", "given-up", dropped=1),
    Row("left", RIGHT, 7725, 2, "killed", "given-up", dropped=1),
    Row("left", "10.9.0.77", 7726, 2, "call", "icmp-host", NO_HOST, dropped=1),   # no neighbour
    Row("left", "192.0.2.1", 7727, 11, "call", "no-route", NO_NETWORK, syns=None, dropped=None),
    Row("left", "192.0.2.64", 7727, 2, "poll", "no-route", NO_HOST, mode="nonblocking", syns=None, dropped=None),
    Row("left", "2001:db8::1", 7727, 3, "call", "no-route", NO_NETWORK, syns=None, dropped=None),
    Row("left", "192.0.2.65", 7728, 3, "call", "forbidden", ACCESS, syns=None, dropped=None),
    Row("left", "192.0.2.66", 7728, 2, "call", "failed", EINVAL, syns=None, dropped=None),
    Row("left", "127.0.0.1", 7729, 5, "forbidden", "forbidden", PERMISSION, syns=None, dropped=None),
    Row("left", "127.0.0.1", 7730, 2, "self"),
    Row("right", "127.0.0.1", 7731, 4, "call"),                                # as many as there are ports
    Row("right", "127.0.0.1", 7731, 7, "call", "no-port", NO_PORT, syns=None, dropped=None),
    Row("right", "::1", 7731, 4, "call"),
    Row("right", "::1", 7731, 2, "poll", "no-port", NO_PORT, mode="nonblocking", syns=None, dropped=None),
    Row("left", "127.0.0.1", 7741, 3, "fast-open", kind="fast-open", mode="-"),
    Row("left", "127.0.0.1", 7741, 5, "deferred", kind="fast-open"),
    Row("left", "127.0.0.1", 7751, 7, "mptcp", kind="mptcp"),
    Row("left", "127.0.0.1", 7702, 2, "mptcp", kind="mptcp"),                  # to a server that has none
    Row("left", "127.0.0.1", 7703, 3, "mptcp", "refused", REFUSED, kind="mptcp"),
    Row("left", "192.0.2.1", 7752, 2, "mptcp", "no-route", NO_NETWORK, kind="mptcp", syns=None, dropped=None),
]
# Path, how many, how, and what is expected.
UNIX = [
    Row("unix", "open", 0, 11, "unix", kind="unix"),
    Row("unix", "@hidden", 0, 3, "unix", kind="unix"),
    Row("unix", "full", 0, 2, "unix-poll", kind="unix", mode="nonblocking"),
    Row("unix", "full", 0, 5, "unix-poll", "backlog-full", EAGAIN, kind="unix", mode="nonblocking"),
    Row("unix", "full", 0, 1, "unix-queued", kind="unix"),
    Row("unix", "bound", 0, 3, "unix", "refused", REFUSED, kind="unix"),
    Row("unix", "absent", 0, 2, "unix", "no-socket", NO_FILE, kind="unix"),
]
BEFORE, UNDER_WAY = 3, 5   # connections that began before, and that do not end
SILENT = 7732              # they go there

PROGRAMS = f"""
import ctypes, json, os, select, socket, struct, subprocess, sys, threading, time
ports = sys.argv[2:]   # or all
if "COMM" in os.environ:
    open("/proc/self/comm", "w").write(os.environ["COMM"])
rows = [row for row in json.load(open("rows.json")) if row["place"] == sys.argv[1] and (not ports or str(row["port"]) in ports)]
kept = []

def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET

def finish(s):
    select.select([], [s], [])
    return s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

def begin(s, address, port):
    s.setblocking(False)
    return s.connect_ex((address, port))

def call(s, to):
    s.setblocking(True)
    kept.append(s)
    return s.connect_ex(to)

# A program that forbids all connect() of IPv4 in a cgroup, for what runs in it.
def forbid(connect):
    os.makedirs("/tmp/cgroup", exist_ok=True)
    if not os.path.exists("/tmp/cgroup/cgroup.procs"):
        subprocess.run(["mount", "-t", "cgroup2", "none", "/tmp/cgroup"], check=True)
    os.makedirs("/tmp/cgroup/forbidden", exist_ok=True)
    code = struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0)   # return 0
    held = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    bpf = ctypes.CDLL(None, use_errno=True).syscall
    number = 280 if os.uname().machine == "aarch64" else 321
    load = struct.pack("<IIQQIIQII16sII", 18, 2, ctypes.addressof(held[0]), ctypes.addressof(held[1]), 0, 0, 0, 0, 0, b"", 0, 10)
    program = bpf(number, 5, load, len(load))
    attach = struct.pack("<IiII", os.open("/tmp/cgroup/forbidden", os.O_RDONLY), program, 10, 0)
    if program < 0 or bpf(number, 8, attach, len(attach)) < 0:
        sys.exit(f"no program in the cgroup: {{os.strerror(ctypes.get_errno())}}")
    open("/tmp/cgroup/forbidden/cgroup.procs", "w").write(str(os.getpid()))
    errors = connect()
    open("/tmp/cgroup/cgroup.procs", "w").write(str(os.getpid()))
    return errors

def connect(how, address, port, count):
    new = lambda protocol=0: socket.socket(family(address), socket.SOCK_STREAM, protocol)
    to = (address, port)
    if how == "call":
        return [call(new(), to) for _ in range(count)]
    if how == "mptcp":
        return [call(new(262), to) for _ in range(count)]
    if how == "forbidden":
        return forbid(lambda: [call(new(), to) for _ in range(count)])
    if how in ("poll", "wave"):
        errors = []
        for _ in range(count):
            kept.append(new())
            errors.append(begin(kept[-1], *to))
            if how == "poll" and errors[-1] == 115:
                errors[-1] = finish(kept[-1])
        return errors if how == "poll" else [finish(s) for s in kept[-count:]]
    if how == "give-up":
        for _ in range(count):
            s = new()
            begin(s, *to)
            time.sleep(0.02)
            s.close()
    if how == "time-out":
        for _ in range(count):
            s = new()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@qq", 0, 20000))
            s.connect_ex(to)
            s.close()
    if how == "killed":
        for _ in range(count):
            child = subprocess.Popen([sys.executable, "-c", f"import socket; socket.socket().connect({{to}})"])
            while f":{{port:04X}} 02" not in open("/proc/net/tcp").read():   # SYN_SENT
                time.sleep(0.01)
            time.sleep(0.02)   # until it has got to right
            child.kill()
            child.wait()
    if how == "self":
        for _ in range(count):
            s = new()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(to)
            call(s, to)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
            kept.pop()
    if how == "fast-open":
        for _ in range(count):
            kept.append(new())
            kept[-1].sendto(b"x", 0x20000000, to)
    if how == "deferred":
        for _ in range(count):
            kept.append(new())
            kept[-1].setsockopt(socket.IPPROTO_TCP, 30, 1)
            kept[-1].connect(to)
            time.sleep({PROGRAM_MS / 1000})
            kept[-1].send(b"x")
    return [0] * count

def connect_unix(how, path, count):
    errors = []
    for _ in range(count):
        kept.append(socket.socket(socket.AF_UNIX))
        if how == "unix-queued":
            server = servers[path]
            threading.Thread(target=lambda: (time.sleep({QUEUED_MS / 1000}), kept.append(server.accept()))).start()
        kept[-1].setblocking(how != "unix-poll")
        s = kept[-1]
        errors.append(s.connect_ex(path.replace("@", "\\0")))
    return errors

truth_file = os.path.abspath(".".join(sys.argv[1:]) + ".truth")
servers = {{}}
if sys.argv[1] == "unix":
    os.chdir("/tmp")
    for path, backlog in (("open", 64), ("\\0hidden", 64), ("full", 1), ("bound", None)):
        servers[path] = socket.socket(socket.AF_UNIX)
        servers[path].bind(path)
        if backlog is not None:
            servers[path].listen(backlog)
truth = []
for row in rows:
    errors = connect_unix(row["how"], row["address"], row["count"]) if sys.argv[1] == "unix" else \\
             connect(row["how"], row["address"], row["port"], row["count"])
    truth.append(errors)
    time.sleep(0.01)
json.dump(truth, open(truth_file, "w"))
"""

# servers.py ADDRESS:PORT[:mptcp|fast-open]...
SERVERS = """
import socket, sys, time
kept = []
for name in sys.argv[1:]:
    port, _, how = name.partition(":")
    for family, address in ((socket.AF_INET, ""), (socket.AF_INET6, "::")):
        s = socket.socket(family, socket.SOCK_STREAM, 262 if how == "mptcp" else 0)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.bind((address, int(port)))
        if how == "fast-open":
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 64)
        s.listen(128)
        kept.append(s)
print("ready", flush=True)
time.sleep(3600)
"""

# pending.py COUNT SYNS: COUNT connections that get no answer, and no end.
PENDING = f"""
import socket, sys, time
kept = []
for _ in range(int(sys.argv[1])):
    kept.append(socket.socket())
    kept[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, int(sys.argv[2]))
    kept[-1].setblocking(False)
    kept[-1].connect_ex(("{RIGHT}", {SILENT}))
print("ready", flush=True)
time.sleep(3600)
"""

RULES_RIGHT = f"""
table netdev away {{
    chain ingress {{
        type filter hook ingress device right0 priority 0
        tcp dport 7720 fwd to "void"
    }}
}}
table inet lab {{
    chain input {{
        type filter hook input priority 0
        tcp dport 7704 reject with tcp reset
        meta nfproto ipv4 tcp dport 7711 reject with icmp type port-unreachable
        meta nfproto ipv4 tcp dport 7712 reject with icmp type host-unreachable
        meta nfproto ipv4 tcp dport 7713 reject with icmp type net-unreachable
        meta nfproto ipv4 tcp dport 7714 reject with icmp type prot-unreachable
        meta nfproto ipv4 tcp dport 7715 reject with icmp type admin-prohibited
        meta nfproto ipv6 tcp dport 7711 reject with icmpv6 type port-unreachable
        meta nfproto ipv6 tcp dport 7712 reject with icmpv6 type addr-unreachable
        meta nfproto ipv6 tcp dport 7713 reject with icmpv6 type no-route
        meta nfproto ipv6 tcp dport 7715 reject with icmpv6 type admin-prohibited
        tcp dport {{ 7721, 7725, {SILENT} }} drop
    }}
}}
"""
RULES_LEFT = """
table inet lab {
    chain output {
        type filter hook output priority 0
        tcp dport 7722 drop
        tcp dport 7724 tcp flags & (syn | ack) == syn numgen inc mod 2 0 drop
    }
    chain input {
        type filter hook input priority 0
        tcp sport 7723 drop
    }
}
"""
