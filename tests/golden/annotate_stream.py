#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tail -f | stapgen resolve --annotate` answers line by line, and holds text only until it knows the KASLR offset:
annotate_stream.py STAPGEN"""

import subprocess
import sys

MAP = "../unit/symbols/data/drop-map-6.12.117"
PLACES = (("0xffffffffb594ae2a", "udp_queue_rcv_one_skb+0x40a/0x530"),
          ("0xffffffffb594ca75", "__udp4_lib_rcv+0x235/0xd90"),
          ("0xffffffffb593a20a", "tcp_v4_rcv+0x9a/0x1360"),
          ("0xffffffffb5954bb1", "icmp_rcv+0x71/0x350"),
          ("0xffffffffb58ff561", "ip_rcv_core+0x71/0x330"),
          ("0xffffffffb58f3781", "nf_hook_slow+0x71/0xf0"),
          ("0xffffffffb59262b1", "tcp_data_queue+0x71/0x1010"),
          ("0xffffffffb5950b51", "arp_process+0x71/0x8f0"),
          ("0xffffffffb5961161", "igmp_rcv+0x71/0x8f0"),
          ("0xffffffffb59016c1", "ip_forward+0x71/0x5f0"))


def start(stapgen, *options):
    return subprocess.Popen([stapgen, "resolve", "--annotate", "--map", MAP, *options], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)


def main():
    lines = [(f"{number} packets dropped at {address}\n", f"{number} packets dropped at {name}\n")
             for number, (address, name) in enumerate(PLACES, 3)]

    # With the KASLR offset given each line is there before the next one is written; without an answer this test never ends.
    with start(sys.argv[1], "--kaslr-offset", "33e00000") as known:
        for written, expected in lines:
            known.stdin.write(written)
            assert known.stdout.readline() == expected
        known.stdin.write("no line end, ")
        known.stdin.flush()
        assert known.stdout.read(len("no line end, ")) == "no line end, "
        known.stdin.close()
        assert known.stdout.read() == ""
        assert known.wait() == 0

    # So are addresses alone, whatever stands between them.
    command = [sys.argv[1], "resolve", "--map", MAP, "--kaslr-offset", "33e00000", "--drop-sites"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as addresses:
        for (address, name), behind in zip(PLACES, " \n\t" * 4):
            addresses.stdin.write((address + behind).encode())
            addresses.stdin.flush()
            assert addresses.stdout.readline() == f"{address[2:]} {name}\n".encode()
        addresses.stdin.close()
        assert addresses.wait() == 0

    # To be inferred it takes all ten; then they are there, and later lines one by one.
    with start(sys.argv[1]) as inferring:
        for written, _ in lines:
            inferring.stdin.write(written)
        for _, expected in lines:
            assert inferring.stdout.readline() == expected
        for written, expected in lines:
            inferring.stdin.write(written)
            assert inferring.stdout.readline() == expected
        inferring.stdin.close()
        assert inferring.wait() == 0
        assert "KASLR offset 0x33e00000" in inferring.stderr.read()

    # From a line on that contradicts the map, there are no names.
    false = "7 drops at tcp_v4_rcv+11 (0xffffffffb5954bb1)\n"
    with start(sys.argv[1], "--kaslr-offset", "33e00000") as contradicted:
        for written, expected in ((lines[0][0], lines[0][1]), (false, false), (lines[1][0], lines[1][0])):
            contradicted.stdin.write(written)
            assert contradicted.stdout.readline() == expected
        contradicted.stdin.close()
        assert contradicted.wait() == 2
        assert "of another kernel than the log: 1 of 1 names" in contradicted.stderr.read()

    # One is not enough: the text comes out as it went in.
    with start(sys.argv[1]) as refused:
        out, err = refused.communicate(lines[0][0] + "the end\n")
        assert (out, refused.returncode) == (lines[0][0] + "the end\n", 2), (out, err)
        assert "KASLR offset unknown" in err


if __name__ == "__main__":
    main()
