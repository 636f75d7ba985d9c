#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that a kernel drops, each kind at another place in its code: odd_packets.py N KIND..., kinds of KINDS."""

import ctypes
import errno
import pathlib
import socket
import struct
import sys
import tempfile

PORT = 7990  # nobody listens there
SO_ATTACH_FILTER = 26  # asm-generic/socket.h
IPV4, ARP, IPV6, UNKNOWN = 0x0800, 0x0806, 0x86DD, 0x9999
ICMP, IGMP, TCP, UDP, ICMP6, NONE = 1, 2, 6, 17, 58, 200
LOCAL, ELSEWHERE = "127.0.0.1", "198.51.100.7"


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(protocol, payload, to=LOCAL, version=4, wrong_sum=False):
    header = struct.pack("!BBHHHBBH4s4s", version << 4 | 5, 0, 20 + len(payload), 7, 0, 64, protocol, 0,
                         socket.inet_aton(LOCAL), socket.inet_aton(to))
    total = checksum(header) ^ (0x5555 if wrong_sum else 0)
    return header[:10] + struct.pack("!H", total) + header[12:] + payload


def ipv6(protocol, payload, version=6):
    own = socket.inet_pton(socket.AF_INET6, "::1")
    return struct.pack("!IHBB", version << 28, len(payload), protocol, 64) + own + own + payload


def frame(kind, payload, to=b"\0" * 6):
    """Send an Ethernet frame over the loopback."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind(("lo", 0))
        sender.send(to + b"\0" * 6 + struct.pack("!H", kind) + payload)


def raw(packet):
    """Send an IPv4 packet whose way is known, so that it gets as far as to its protocol."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as sender:
        sender.sendto(packet, (LOCAL, 0))


def datagram(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"odd", (address, PORT))


def refused(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        assert client.connect_ex((address, PORT)) == errno.ECONNREFUSED


def full(family, address):
    """Many datagrams to a socket whose buffer takes a few."""
    with socket.socket(family, socket.SOCK_DGRAM) as reader, socket.socket(family, socket.SOCK_DGRAM) as sender:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        reader.bind((address, 0))
        for _ in range(50):
            sender.sendto(b"odd", reader.getsockname()[:2])


def filtered():
    """A socket filter that takes nothing: a program of one instruction, return 0."""
    program = struct.pack("HBBI", 0x06, 0, 0, 0)
    buffer = ctypes.create_string_buffer(program)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as reader:
        reader.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", 1, ctypes.addressof(buffer)))
        reader.bind((LOCAL, 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"odd", reader.getsockname())


def unread(family, address):
    """A datagram that is still in the buffer when its socket is closed."""
    with socket.socket(family, socket.SOCK_DGRAM) as reader, socket.socket(family, socket.SOCK_DGRAM) as sender:
        reader.bind(address)
        sender.sendto(b"odd", reader.getsockname())


def unread_unix():
    with tempfile.TemporaryDirectory() as folder:
        unread(socket.AF_UNIX, str(pathlib.Path(folder) / "socket"))


KINDS = {
    "udp4-closed": lambda: datagram(socket.AF_INET, LOCAL),
    "udp6-closed": lambda: datagram(socket.AF_INET6, "::1"),
    "tcp4-refused": lambda: refused(socket.AF_INET, LOCAL),
    "tcp6-refused": lambda: refused(socket.AF_INET6, "::1"),
    "udp4-full": lambda: full(socket.AF_INET, LOCAL),
    "udp6-full": lambda: full(socket.AF_INET6, "::1"),
    "udp4-filter": filtered,
    "udp4-unread": lambda: unread(socket.AF_INET, (LOCAL, 0)),
    "unix-unread": unread_unix,
    "unknown-type": lambda: frame(UNKNOWN, b"odd" * 20),
    "other-host": lambda: frame(IPV4, ipv4(UDP, b"odd" * 9), to=b"\x02odd!!"),
    "ip4-version": lambda: frame(IPV4, ipv4(UDP, b"odd" * 9, version=5)),
    "ip4-checksum": lambda: frame(IPV4, ipv4(UDP, b"odd" * 9, wrong_sum=True)),
    "ip4-short": lambda: frame(IPV4, ipv4(UDP, b"odd" * 9)[:13]),
    "ip4-elsewhere": lambda: frame(IPV4, ipv4(UDP, b"odd" * 9, to=ELSEWHERE)),
    "ip4-no-protocol": lambda: raw(ipv4(NONE, b"odd" * 9)),
    "ip6-version": lambda: frame(IPV6, ipv6(UDP, b"odd" * 9, version=5)),
    "ip6-no-protocol": lambda: frame(IPV6, ipv6(NONE, b"odd" * 9)),
    "tcp4-checksum": lambda: raw(ipv4(TCP, struct.pack("!HHIIHHHH", 9, PORT, 1, 0, 0x5002, 99, 0xDEAD, 0))),
    "tcp4-short": lambda: raw(ipv4(TCP, b"odd")),
    "udp4-short": lambda: raw(ipv4(UDP, b"odd")),
    "udp4-length": lambda: raw(ipv4(UDP, struct.pack("!HHHH", 9, PORT, 999, 0))),
    "icmp4-checksum": lambda: raw(ipv4(ICMP, b"odd" * 9)),
    "icmp6-checksum": lambda: frame(IPV6, ipv6(ICMP6, b"odd" * 9)),
    "igmp": lambda: raw(ipv4(IGMP, b"odd" * 9)),
    "arp": lambda: frame(ARP, b"odd" * 20),
}


def main():
    for _ in range(int(sys.argv[1])):
        for kind in sys.argv[2:]:
            KINDS[kind]()


if __name__ == "__main__":
    main()
