# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of a megabyte that are packed, or are symbols, recipes and lists of hosts: see structures.py."""

import bz2
import gzip
import lzma
import struct
import zlib

from structures import END, HEADER, MB, case, filled

# Packed: of text, one reader for each way in which files are opened; what becomes of the text is no matter.

def xz_of(dictionary, text):
    """xz by hand, for a window that this machine could not pack with."""
    packed = bytearray(lzma.compress(text, lzma.FORMAT_XZ, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]))
    # Block header: size, flags, filter 0x21, size of properties 1, dictionary, padding, CRC32.
    begin = 12
    size = (packed[begin] + 1) * 4
    at = packed.index(b"\x21\x01", begin) + 2
    packed[at] = dictionary
    packed[begin + size - 4:begin + size] = struct.pack("<I", zlib.crc32(bytes(packed[begin:begin + size - 4])))
    return bytes(packed)


RECORDING = (HEADER + "rx\t17\t1\t101\t103\n" + END).encode()
MAP = b"".join(b"%016x T f%x\n" % (0xffffffff81000000 + n * 64, n) for n in range(2_000))


def zstd_frame(window, blocks):
    """Magic, descriptor without content size, window, blocks of one repeated byte each."""
    block = 1 << 1 | (128 << 10) << 3
    each, last = (struct.pack("<I", head)[:3] + b"\0" for head in (block, block | 1))
    return struct.pack("<IBB", 0xFD2FB528, 0, window) + each * (blocks - 1) + last


@case("packed", "map")
def zstd_window_2_gb():
    return zstd_frame(21 << 3, 16)


@case("packed", "map")
def zstd_window_128_mb():
    return zstd_frame(17 << 3, 2_000)


@case("packed", "map")
def zstd_bomb():
    """A megabyte of 4 bytes for each 128 kB: 34 GB."""
    return zstd_frame(7 << 3, 260_000)


def gzip_without_end(begin, part, times):
    """What gzip makes of BEGIN and so many PARTs, each packed as the first is, without the checksum at the end."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    packed = [packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH) for text in (begin, part)]
    return packed[0] + packed[1] * times


@case("packed", "map")
def gzip_bomb():
    """A megabyte of a gigabyte of NULs."""
    return gzip_without_end(b"", b"\0" * MB, 950)


@case("lines")
def gzip_bomb_of_lines():
    """The same of lines, of which a text can have no more."""
    return gzip_without_end(b"", b"\n" * MB, 950)


@case("packed", "map")
def bzip2_bomb():
    return bz2.compress(b"\0" * (45 * MB), 9) * 900


@case("packed", "map")
def xz_bomb():
    packer = lzma.LZMACompressor(preset=0)
    return b"".join([*(packer.compress(b"\0" * MB) for _ in range(300)), packer.flush()])


@case("refused")
def recording_bomb():
    """Valid records, gigabytes of them."""
    piece = gzip.compress((HEADER + "rx\t17\t1\t101\t103\n").encode() + b"rx\t17\t1\t101\t103\n" * 50_000, 9)
    more = gzip.compress(b"rx\t17\t1\t101\t103\n" * 500_000, 9)
    return piece + more * ((MB - len(piece)) // len(more))


@case("packed", "map")
def xz_window_1_gb():
    return xz_of(36, RECORDING)


@case("packed", "map")
def xz_window_4_gb():
    return xz_of(40, RECORDING)


@case("packed", "map")
def gzip_members():
    return gzip.compress(b"\n") * (MB // 21)


@case("packed", "map")
def zstd_frames():
    return (zstd_frame(0, 1)) * 100_000


# Symbols.

@case("map")
def map_of_one_address():
    return filled("", lambda n: f"ffffffff81000000 T f{n:x}\n")


@case("map")
def map_of_modules():
    return filled("ffffffff81000000 T _text\n", lambda n: f"ffffffffc{n * 4096:07x} t f\t[m{n:x}]\n")


@case("map")
def map_of_short_lines():
    return filled("", lambda n: f"{n * 16:x} T f\n")


@case("map")
def map_of_long_names():
    return filled("", lambda n: f"{0xffffffff81000000 + n * 64:x} T " + "f" * 500_000 + "\n")


def elf(sections, data):
    """An ELF file of x86-64 with these sections (name's place, type, size, info, entry size) over the same DATA."""
    header = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64,
                                                               len(sections), 0)
    table, at = b"", 64 + 64 * len(sections)
    for name, kind, size, link, entry in sections:
        table += struct.pack("<IIQQQQIIQQ", name, kind, 6, 0xffffffff81000000, at, size, link, 1, 1, entry)
    return header + table + data


@case("map")
def elf_symbols():
    data = struct.pack("<IBBHQQ", 1, 2, 0, 1, 0xffffffff81000000, 16) * 40_000 + b"\0function\0"
    return elf([(1, 3, len(data), 0, 0), (1, 2, 40_000 * 24, 0, 24)], data)


@case("map")
def elf_sections():
    data = struct.pack("<IBBHQQ", 1, 2, 0, 1, 0xffffffff81000000, 16) * 5_000 + b"\0function\0"
    return elf([(1, 3, len(data), 0, 0)] + [(1, 2, len(data), 0, 24)] * 10_000, data)


@case("map")
def elf_packed_section():
    """A section that says of itself that it unpacks to 64 GB."""
    data = struct.pack("<IIQQ", 1, 0, 64 << 30, 1) + zlib.compress(b"\0" * MB, 9)
    head = elf([(1, 3, len(data), 0, 0), (1, 2, len(data), 0, 24)], data)
    return head.replace(struct.pack("<QQ", 6, 0xffffffff81000000), struct.pack("<QQ", 0x806, 0xffffffff81000000))


@case("map")
def kernel_image():
    """A bzImage whose payload says that it unpacks to 4 GB, and does not lie about a gigabyte of it."""
    payload = gzip_without_end(b"\x7fELF", b"\0" * MB, 1_000)[:MB - 4_000] + struct.pack("<I", 0xffffffff)
    head = bytearray(2_048)
    head[0x1f1], head[0x1fe:0x200], head[0x202:0x206] = 3, b"\x55\xaa", b"HdrS"
    head[0x206:0x208] = struct.pack("<H", 0x20f)
    head[0x248:0x250] = struct.pack("<II", 0, len(payload))
    return bytes(head) + payload


@case("modules")
def modules_lines():
    return filled("", lambda n: f"m{n:x} 4096 0 - Live 0x{0xffffffffc0000000 + n * 4096:x}\n")


@case("toml")
def toml_arrays():
    return b"a = " + b"[" * 500_000


@case("toml")
def toml_tables():
    return b"a = " + b"{a=" * 300_000


@case("toml")
def toml_dotted_keys():
    return b"a" + b".a" * 500_000 + b" = 1\n"


@case("toml")
def toml_headers():
    return b"[a" + b".a" * 500_000 + b"]\n"


@case("toml")
def toml_keys():
    return filled("", lambda n: f"k{n:x}=1\n")


@case("toml")
def toml_list():
    return filled('name="a"\nfields=[', lambda n: f'"f{n:x}:stage",', "]\n")


@case("toml")
def toml_deep_and_many():
    return b"".join(b"[" + b".".join([b"a%x" % n] + [b"a"] * 200) + b"]\n" for n in range(2_500))


@case("hosts")
def hosts_lines():
    return filled("", lambda n: f"h{n:x}\n")


@case("hosts")
def hosts_one_line():
    return b"h" * MB
