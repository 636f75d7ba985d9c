# SPDX-License-Identifier: GPL-2.0-or-later
"""Just enough of protobuf to read what serve writes: a message as {number: [values]}, and those inside by path."""

import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Numbers stay as they came; texts and messages are bytes."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at:at + size], at + size
        assert at <= len(data), "a message is cut"
        found.setdefault(key >> 3, []).append(value)
    return found


def delimited(data):
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        yield fields(data[at:at + size])
        at += size


def packed(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def signed(value):
    """Of sint32 and sint64."""
    return value >> 1 ^ -(value & 1)


def double(data):
    return struct.unpack("<d", data)[0]


def fixed64(data):
    return struct.unpack("<q", data)[0]
