# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives of a megabyte that are made to cost: see structures.py."""

import gzip
import io
import lzma
import tarfile

from structures import MB, case, filled


def archive(*files):
    """A tar of these names and contents."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


SNMP = ("sos/proc/net/snmp", b"Udp: InDatagrams RcvbufErrors\nUdp: 225645 1399\n")


def section(title, content):
    return f"#==[ Command ]======#\n# {title}\n{content}\n"


@case("archive")
def archives_in_archives():
    """Kilobytes that unpack to terabytes: each of the levels is within what one may."""
    level = archive(("var/log/messages", b"\n" * (15 * MB)))
    for _ in range(2):
        packed = lzma.compress(level, preset=1)
        level = archive(*((f"{n}.tar.xz", packed) for n in range(64)))
    return lzma.compress(archive(SNMP, *((f"{n}.tar.xz", lzma.compress(level, preset=1)) for n in range(4))), preset=1)


@case("archive")
def members():
    return gzip.compress(archive(SNMP, *((f"{n}.log", b"") for n in range(60_000))), 9)[:MB]


@case("archive")
def packed_members():
    """Each has a window of its own."""
    packed = lzma.compress(b"\n", preset=9)
    return archive(SNMP, *((f"{n}.log", packed) for n in range(600)))


@case("archive")
def path_of_settings():
    path = "sos/" + "p" * 60_000 + "/sysctl_-a"
    return lzma.compress(archive(SNMP, (path, filled("", lambda n: f"net.x.{n:x} = 1\n", size=2 * MB))), preset=1)


@case("archive")
def longest_path_of_settings():
    path = "sos/" + "p" * 4_000 + "/sysctl_-a"
    return archive(SNMP, (path, filled("", lambda n: f"net.x.{n:x} = 1\n", size=MB - 20_000)))


@case("archive")
def files_of_long_paths():
    files = (("sos/" + f"{n:05}" + "p" * 4_000 + "/sysctl_-a", b"net.x.%x = 1\n" % n) for n in range(6_000))
    return gzip.compress(archive(SNMP, *files), 6)


@case("archive")
def kernels():
    text = filled("", lambda n: section("/bin/uname -a", f"Linux h 6.{n}.0-{n:x}{'x' * 40} #1 SMP x86_64"), size=MB - 20_000)
    return archive(SNMP, ("scc/basic-environment.txt", text))


@case("archive")
def namespace_of_counters():
    for_one = "".join(f"     a{n:x}: 1\n" for n in range(8_000))
    text = "".join(section(f"/sbin/ip netns exec {'n' * size} /sbin/ethtool -S eth{size}", "NIC statistics:\n" + for_one)
                   for size in (60_000, 250, 251, 252, 253, 254, 255))
    return gzip.compress(archive(SNMP, ("scc/network.txt", text.encode())), 6)


@case("archive")
def device_of_lines():
    path = "sos/sys/class/net/" + "d" * 4_000 + "/statistics/rx_dropped"
    return archive(SNMP, (path, b"1\n" * (MB // 2 - 10_000)))


@case("archive")
def table_of_rules():
    text = filled("table inet " + "t" * 400_000 + " {\nchain input {\n",
                  lambda n: f"tcp dport {n} counter packets {n} bytes 1 drop\n", size=MB - 20_000)
    return archive(SNMP, ("sos/sos_commands/firewall/nft_list_ruleset", text))


@case("archive")
def copies():
    """Drops in more files than are copied, each of which is nearly all blank lines."""
    drops = b"17 packets dropped at icmp_rcv\n" + b"\n" * (20 * MB)
    header = b"stapgen\t4\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\ndrop\tffffffff81000010\t2\t1\n"
    packed = gzip.compress(header + drops, 9)
    return archive(SNMP, *((f"drops-{n}.txt", packed) for n in range(16)))


@case("archive")
def damaged_members():
    packed = gzip.compress(b"x" * 1_000)[:-9]
    return archive(SNMP, *((f"{n}.log", packed) for n in range(900)))


@case("archive")
def trailing_bytes():
    return lzma.compress(archive(SNMP), preset=1) + b"\xff" * 100_000


# Of drops: the texts that they are counted by.

@case("text")
def drops_of_long_places():
    lines = "".join(f"1 packets dropped at f{n:x}{'f' * 60_000}\n" for n in range(1_500))
    return gzip.compress(lines.encode(), 6)


@case("text")
def drops_of_long_names():
    begin = "stapgen\t4\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\tcomm:text,key\n"
    lines = "".join(f"drop\tffffffff81{n:06x}\t2\t1\t{n:x}{'f' * 15_000}\n" + ("" if n % 7 else f"tick\t{n}\n") for n in range(6_000))
    return gzip.compress((begin + lines).encode(), 6)


@case("text")
def drops_of_long_names_in_intervals():
    begin = "stapgen\t4\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\tcomm:text,key\n"
    lines = "".join(f"drop\tffffffff81000000\t2\t1\t{n % 99:x}{'f' * 15_000}\n" + ("" if n % 99 else f"tick\t{n * 10**9}\n")
                    for n in range(12_000))
    return gzip.compress((begin + lines).encode(), 6)


@case("text")
def groups_of_longer_names():
    begin = "stapgen\t4\trx-latency\trx\tcomm:text,key\ta:stage\n"
    return gzip.compress((begin + "".join(f"rx\t{n:x}{'f' * 15_000}\t1\n" for n in range(6_000))).encode(), 6)


@case("text")
def counts_of_long_names():
    begin = "stapgen\t4\tpacket-flow\tn\tcomm:text,key\tcount:count\n"
    return gzip.compress((begin + "".join(f"n\t{n:x}{'f' * 15_000}\t1\n" for n in range(6_000))).encode(), 6)
