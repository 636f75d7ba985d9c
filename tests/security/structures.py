# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of a megabyte whose structure is made to cost: how deep, how many, how large it says that something is.

Each is a function that returns the bytes; its `of` says which readers meet it.
"""

import gzip
import json

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


@case("refused")
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
