# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of a megabyte whose structure is made to cost: how deep, how many, how large it says that something is.

Each is a function that returns the bytes; its `of` says which readers meet it.
"""

import bz2
import gzip
import json
import lzma
import struct
import zlib

MB = 1 << 20
HEADER = "stapgen\t4\trx-latency\trx\ttime:time\tpid:int\ta-b:stage\tb-c:stage\n"
END = "end\t23\tseen=2\treported=2\n"
CASES = {}


def case(*of):
    def add(make):
        CASES[make.__name__.replace("_", "-")] = (make, of)
        return make
    return add


def filled(begin, part, end="", size=MB):
    """BEGIN, then what PART makes of 0, 1, 2, ... as long as there is room, then END."""
    room, parts, number = size - len(begin) - len(end), [], 0
    while (text := part(number)) and (room := room - len(text)) >= 0:
        parts.append(text)
        number += 1
    return (begin + "".join(parts) + end).encode()


# JSON: in a recording's own lines, in fleet.json and in the lists of containers.

def own_line(json_text):
    return b'recording\t1\t' + json_text + b"\n" + HEADER.encode() + b"rx\t17\t1\t101\t103\n" + END.encode()


@case("text")
def json_array_in_array():
    return own_line(b'{"a":' + b"[" * 65_000 + b"]" * 65_000 + b"}")


@case("text")
def json_packed_array_in_array():
    return gzip.compress(json_array_in_array())


@case("text")
def json_open_array():
    return own_line(b'{"a":' + b"[" * 900_000)


@case("text")
def json_object_in_object():
    return own_line(b'{"a":' * 80_000 + b"1" + b"}" * 80_000)


@case("text")
def json_keys():
    return own_line(filled("{", lambda n: f'"{n:x}":0,', '"z":0}', 900_000))


@case("text")
def json_elements():
    return own_line(b'{"modules":[' + b"{}," * 300_000 + b"{}]}")


@case("text")
def json_labels():
    return own_line(filled('{"run":"a","labels":{', lambda n: f'"{n:x}":"",', '"z":""}}', 900_000))


@case("text")
def json_group_names():
    return own_line(filled('{"run":"a","group_names":{', lambda n: f'"netns:{n}":"",', '"z":""}}', 900_000))


@case("text")
def own_lines():
    """Headers, each of which begins another recording."""
    return filled("", lambda n: f'recording\t1\t{{"run":"{n:x}"}}\n' + "stapgen\t4\tr\tt\ta:stage\nt\t1\n")


@case("index")
def index_array_in_array():
    return b'{"hosts":' + b"[" * 500_000


@case("index")
def index_keys():
    return filled('{"hosts":[],', lambda n: f'"{n:x}":0,', '"z":0}')


@case("index")
def index_hosts():
    return filled('{"hosts":[', lambda n: '{"host":"","state":"","recording":"a.rec"},',
                  '{"host":"","state":"","recording":"a.rec"}]}')


@case("index")
def index_elements():
    return b'{"hosts":[' + b"0," * 500_000 + b"0]}"


# Records: what a header declares.

@case("text")
def stage_fields():
    begin = "stapgen\t4\trx-latency\trx"
    return filled(begin, lambda n: f"\ts{n}:stage" if n < 4_000 else "", "\nrx" + "\t1" * 4_000 + "\n" + END)


@case("text")
def stage_fields_without_end():
    return filled("stapgen\t4\trx-latency\trx", lambda n: f"\ts{n}:stage", "\n" + END)


@case("text")
def value_fields():
    begin = "stapgen\t4\trx-latency\trx"
    return filled(begin, lambda n: f"\ts{n}:value" if n < 30_000 else "", "\nrx" + "\t1" * 30_000 + "\n" + END)


@case("text")
def kinds_of_records():
    return filled(HEADER, lambda n: f"fields\tk{n}\ts{n}:stage\nk{n}\t1\n", END)


@case("text")
def kinds_without_measures():
    return filled(HEADER, lambda n: f"fields\tk{n}\ts:int\n", END)


@case("text")
def ways():
    """Directions of packets, of which there are two."""
    return filled("stapgen\t4\trx-latency\trx\tway:text\ta:stage\tb:stage\n", lambda n: f"rx\t{n:x}\t1\t1\n", END)


@case("text")
def ways_aggregated():
    return filled("stapgen\t4\trx-latency,aggregated\trx\tway:text\ta:stage\tb:stage\n",
                  lambda n: f"split\trx\t{n:x}\t1\t1\t1\t1\n", END)


@case("text")
def stages_in_groups():
    """As many groups as there may be, each with values of all sizes in all stages."""
    stages, values = 64, [1, 300, 600, 1100, 2100, 4200, 8300, 17000, 33000, 66000, 140000, 270000, 540000]
    begin = "stapgen\t4\trx-latency\trx\tpid:int,key" + "".join(f"\ts{n}:stage" for n in range(stages)) + "\n"
    return filled(begin, lambda n: f"rx\t{n % 128}" + f"\t{values[n // 128 % 13]}" * stages + "\n", END)


@case("text")
def few_stages_in_groups():
    values = [1, 300, 600, 1100, 2100, 4200, 8300, 17000, 33000, 66000, 140000, 270000]
    begin = "stapgen\t4\trx-latency\trx\tpid:int,key" + "".join(f"\ts{n}:stage" for n in range(13)) + "\n"
    return filled(begin, lambda n: f"rx\t{n % 512}" + f"\t{values[n // 512 % 12]}" * 13 + "\n", END)


@case("text")
def groups_of_long_names():
    begin = "stapgen\t4\trx-latency\trx\tcomm:text,key\ta:stage\n"
    return filled(begin, lambda n: f"rx\t{n:0400x}\t1\n", END)


@case("text")
def ticks():
    return filled(HEADER, lambda n: f"rx\t{n}\t1\t1\t1\ntick\t{n}\n", END)


@case("text")
def counts_of_a_tick():
    return filled(HEADER + "tick\t1\tseen=1", lambda n: f"\tlost.{n:x}=1", "\n" + END)


@case("text")
def times_far_apart():
    return filled(HEADER, lambda n: f"rx\t{n * 10**14}\t1\t1\t1\n", END)


@case("text")
def aggregated_intervals():
    begin = "stapgen\t4\trx-latency,aggregated\trx\ttime:time\ta:stage\n"
    return filled(begin, lambda n: f"bin\trx\ta\t{n % 8000}:1\nsum\trx\ta\t1\t1\t1\t1\ntick\t{n * 10**9}\n", END)


@case("text")
def headers():
    """Recordings one behind the other, as a paste has them."""
    return filled("", lambda n: "stapgen\t4\tr\tt\ta:stage\nt\t1\nend\t1\n")


@case("text")
def headers_of_recipes():
    return filled("", lambda n: f"stapgen\t4\tr{n:x}\tt\ta:stage\nt\t1\nend\t1\n")


@case("text")
def recordings_of_many_stages():
    """As many recordings as are read from one file, each with stages in blocks of time and values of all sizes."""
    stages, values = 64, [1, 300, 600, 1100, 2100, 4200, 8300, 17000]
    head = "stapgen\t4\tr{}\trx\ttime:time\tpid:int,key" + "".join(f"\ts{n}:stage" for n in range(stages)) + "\n"
    return filled("", lambda n: (head.format(n // 100) if n % 100 == 0 else "") +
                  f"rx\t{n % 100 * 10**9}\t{n % 50}" + f"\t{values[n % 8]}" * stages + "\n")


@case("text")
def ways_of_many_stages():
    begin = "stapgen\t4\trx-latency\trx\tway:text" + "".join(f"\ts{n}:stage" for n in range(60)) + "\n"
    return filled(begin, lambda n: f"rx\t{n % 31}" + f"\t{2 ** (n // 31 % 40)}" * 60 + "\n", END)


@case("text")
def drops_of_places():
    begin = "stapgen\t4\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\n"
    return filled(begin, lambda n: f"drop\t{n:x}\t{n % 99}\t1\n", END)


@case("text")
def stacks():
    begin = "stapgen\t4\tdropwatch\tdrop\tframes:stack\tcount:count\n"
    return filled(begin, lambda n: f"drop\t{n:x}" + ",1" * 60 + "\t1\n", END)


@case("text")
def frames_of_a_stack():
    begin = "stapgen\t4\tdropwatch\tdrop\tframes:stack\tcount:count\n"
    return filled(begin + "drop\t1", lambda n: f",{n:x}", "\t1\n" + END, MB - 1000)


@case("text")
def calls_in_calls():
    begin = "stapgen\t4\tcall-trace\tcall\ttime:time\tdepth:int,depth\tfunction:text\ttotal:stage\n"
    return filled(begin, lambda n: f"call\t{n}\t{n}\tf{n:x}\t1\n", END)


@case("text")
def costs():
    return filled(HEADER + END, lambda n: f"p{n:x}, (a:1:1), hits: 1, cycles: 1min/1avg/1max, variance: 0, from: p\n")


@case("text")
def messages():
    return filled("", lambda n: f"WARNING: x{n:x}\nERROR: y{n:x}\n")


@case("text")
def tabs():
    return filled(HEADER, lambda n: "rx" + "\t" * 5_000 + "\n", END)


@case("text")
def short_lines():
    return HEADER.encode() + b"\n" * (MB - 100)


@case("text")
def utf16():
    return ("\ufeff" + HEADER + "rx\t1\t1\t1\t1\n" * 30_000).encode("utf-16-le")[:MB]


# Packed.

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
    text = struct.pack("<IBB", 0xFD2FB528, 0, window)
    for n in range(blocks):
        text += struct.pack("<I", (n == blocks - 1) | 1 << 1 | (128 << 10) << 3)[:3] + b"\n"
    return text


@case("text", "map")
def zstd_window_2_gb():
    return zstd_frame(21 << 3, 16)


@case("text", "map")
def zstd_window_128_mb():
    return zstd_frame(17 << 3, 2_000)


@case("text", "map")
def zstd_bomb():
    """A megabyte of 4 bytes for each 128 kB: 34 GB."""
    return zstd_frame(7 << 3, 260_000)


@case("text", "map")
def gzip_bomb():
    return gzip.compress(b"\n" * (900 * MB), 9)


@case("text", "map")
def bzip2_bomb():
    return bz2.compress(b"\0" * (45 * MB), 9) * 900


@case("text", "map")
def xz_bomb():
    return lzma.compress(b"\n" * (900 * MB), preset=1)


@case("text")
def recording_bomb():
    """Valid records, gigabytes of them."""
    piece = gzip.compress((HEADER + "rx\t17\t1\t101\t103\n").encode() + b"rx\t17\t1\t101\t103\n" * 50_000, 9)
    more = gzip.compress(b"rx\t17\t1\t101\t103\n" * 5_000_000, 9)
    return piece + more * ((MB - len(piece)) // len(more))


@case("text", "map")
def xz_window_1_gb():
    return xz_of(36, RECORDING)


@case("text", "map")
def xz_window_4_gb():
    return xz_of(40, RECORDING)


@case("text", "map")
def gzip_members():
    return gzip.compress(b"\n") * (MB // 21)


@case("text", "map")
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
    payload = gzip.compress(b"\x7fELF" + b"\0" * (900 * MB), 9)[:MB - 4_000] + struct.pack("<I", 0xffffffff)
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
