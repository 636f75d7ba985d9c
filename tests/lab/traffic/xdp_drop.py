#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Drops the IPv4 datagrams that come to a port by XDP, until it is killed: xdp_drop.py DEVICE PORT [native|generic]."""

import ctypes
import os
import signal
import socket
import struct
import sys

SYSCALL = 280 if os.uname().machine == "aarch64" else 321  # bpf(2)
PROG_LOAD, LINK_CREATE = 5, 28
XDP, ATTACH_XDP, DROP, PASS = 6, 37, 1, 2  # linux/bpf.h
MODES = {"generic": 1 << 1, "native": 1 << 2}  # XDP_FLAGS_*_MODE
R0, R1, DATA, DATA_END, AT = range(5)  # registers
LOAD32, LOAD16, LOAD8, MOVE, COPY, ADD = 0x61, 0x69, 0x71, 0xB7, 0xBF, 0x07
IF_GREATER, IF_NOT, EXIT = 0x2D, 0x55, 0x95
ETHERNET, IP, UDP = 14, 20, 8


def instruction(code, to=0, source=0, offset=0, value=0):
    return struct.pack("<BBhi", code, source << 4 | to, offset, value)


def program(port):
    """Return the code: of IPv4 without options, of UDP, to PORT: drop."""
    tests = [(LOAD16, 12, socket.htons(0x0800)), (LOAD8, ETHERNET + 9, socket.IPPROTO_UDP),
             (LOAD16, ETHERNET + IP + 2, socket.htons(port))]
    code = [instruction(LOAD32, DATA, R1, 0), instruction(LOAD32, DATA_END, R1, 4), instruction(MOVE, R0, value=PASS),
            instruction(COPY, AT, DATA), instruction(ADD, AT, value=ETHERNET + IP + UDP),
            instruction(IF_GREATER, AT, DATA_END, offset=2 * len(tests) + 1)]
    for left, (load, offset, value) in zip((2, 1, 0), tests):
        code += [instruction(load, AT, DATA, offset), instruction(IF_NOT, AT, offset=2 * left + 1, value=value)]
    return code + [instruction(MOVE, R0, value=DROP), instruction(EXIT)]


def bpf(command, attributes):
    result = ctypes.CDLL(None, use_errno=True).syscall(SYSCALL, command, attributes, len(attributes))
    if result < 0:
        sys.exit(f"bpf: {os.strerror(ctypes.get_errno())}")
    return result


def load(code):
    text, license = ctypes.create_string_buffer(b"".join(code)), ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("<IIQQIIQII16sII", XDP, len(code), ctypes.addressof(text), ctypes.addressof(license),
                                      0, 0, 0, 0, 0, b"lab_xdp_drop", 0, ATTACH_XDP))


device, port, *mode = sys.argv[1:]
# The link holds the program as long as this process has it open.
bpf(LINK_CREATE, struct.pack("<IIII", load(program(int(port))), socket.if_nametoindex(device), ATTACH_XDP,
                             MODES[mode[0] if mode else "native"]))
print("ready", os.getpid(), 0, flush=True)
signal.pause()
