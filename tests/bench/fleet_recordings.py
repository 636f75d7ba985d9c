# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a minute, made of the records of real ones in samples/: as the script and the recorder write them."""

import collections
import ctypes
import ctypes.util
import functools
import pathlib
import subprocess

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
START = 1_795_180_000_000_000_000
UPTIME = 5_000_000_000
SECOND = 1_000_000_000


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


def packed(texts):
    """One zstd frame, each text flushed, as src/recording/writer.cpp does."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.ZSTD_createCCtx())
    checksum_flag, flush, end = 201, 1, 2
    library.ZSTD_CCtx_setParameter(context, checksum_flag, 1)
    result = []
    for number, text in enumerate(texts):
        piece = text.encode()
        room = ctypes.create_string_buffer(len(piece) + 1000)
        given = Buffer(piece, len(piece), 0)
        made = Buffer(ctypes.cast(room, ctypes.c_char_p), len(room), 0)
        left = library.ZSTD_compressStream2(context, ctypes.byref(made), ctypes.byref(given),
                                            end if number == len(texts) - 1 else flush)
        assert left == 0, left
        result.append(room.raw[:made.at])
    library.ZSTD_freeCCtx(context)
    return b"".join(result)


def lines_of(sample):
    return subprocess.run(["zstd", "-dcf", SAMPLES / sample], capture_output=True, check=True).stdout.decode().splitlines()


class Real:
    """The records of some recordings of one recipe."""

    def __init__(self, *samples):
        self.records = []
        for sample in samples:
            lines = [line for line in lines_of(sample) if not line.startswith("recording")]
            header = lines[0].split("\t")
            self.recipe, self.tag = header[2].split(",")[0], header[3]
            self.fields = [field.split(",")[0].split(":") for field in header[4:]]
            self.records += [line.split("\t")[1:] for line in lines if line.startswith(self.tag + "\t")]
        self.stages = [at for at, (_, kind) in enumerate(self.fields) if kind == "stage"]
        self.names = [self.fields[at][0] for at in self.stages]
        places = {name: at for at, (name, _) in enumerate(self.fields)}
        self.way, self.time = places.get("way"), places.get("time")

    def header(self, words=""):
        fields = "\t".join(":".join(field) for field in self.fields)
        return f"stapgen\t4\t{self.recipe}{words}\t{self.tag}\t{fields}\nready\t{START}\t{UPTIME}\n"

    def times(self, record, factor):
        """The record with other durations."""
        changed = list(record)
        for at in self.stages:
            if record[at] != "-":
                changed[at] = str(round(int(record[at]) * factor(self.fields[at][0])))
        return changed


def bin_of(number, bits):
    """docs/reference/recording-format.md: 2 ** bits to each doubling."""
    shift = max(0, number.bit_length() - bits - 1)
    return (shift << bits) + (number >> shift)


def aggregated(real, records):
    """What the script prints of these records, which came in one interval; and n, sum, minimum and maximum by stage."""
    lines, sums = [], {}
    for at, name in zip(real.stages, real.names):
        values = [int(record[at]) for record in records if record[at] != "-"]
        if not values:
            continue
        bins = sorted(collections.Counter(bin_of(value, 8) for value in values).items())
        for begin in range(0, len(bins), 24):
            pairs = "\t".join(f"{index}:{count}" for index, count in bins[begin:begin + 24])
            lines.append(f"bin\t{real.tag}\t{name}\t{pairs}")
        sums[name] = len(values), sum(values), min(values), max(values)
        lines.append("\t".join(map(str, ("sum", real.tag, name, *sums[name]))))
    parts = [at for at, name in zip(real.stages, real.names) if name != "total"]
    splits, slowest = collections.defaultdict(lambda: [0] * (1 + len(parts))), (0, None)
    for record in records:
        times = [0 if record[at] == "-" else int(record[at]) for at in parts]
        slowest = max(slowest, (sum(times), record))
        split = splits[record[real.way] if real.way is not None else "-", bin_of(sum(times), 5)]
        split[:] = [split[0] + 1, *map(sum, zip(split[1:], times))]
    lines += ["\t".join(map(str, ("split", real.tag, *key, *split))) for key, split in sorted(splits.items())]
    lines.append("\t".join(["slow", real.tag, *slowest[1]]))
    return "\n".join(lines) + "\n", sums


def end_of_interval(second, seconds, count):
    word = "end" if second == seconds else "tick"
    return f"{word}\t{START + second * SECOND}\tseen={count}\treported={count}\n"


def minutes(rate, random):
    """A minute of each recipe of which there is a real recording: its name, the file, and what is in it."""
    own = lines_of("rx-latency.rec")
    begin, end = own[0] + "\n", own[-1] + "\n"  # counters and the rest, which is much of a small recording
    jitter = lambda stage: random.lognormvariate(0, 0.1)  # noqa: E731: a few hundred records have too few values

    def of_aggregated(real):
        texts = [begin + real.header(",aggregated,silent")]
        for second in range(1, 61):
            drawn = [real.times(record, jitter) for record in random.choices(real.records, k=rate)]
            texts.append(aggregated(real, drawn)[0] + end_of_interval(second, 60, second * rate))
        return packed([*texts, end])

    def of_records(real):
        texts, time_ns = [begin + real.header()], UPTIME
        for _ in range(120):
            lines = []
            for record in random.choices(real.records, k=rate // 2):
                record, time_ns = real.times(record, jitter), time_ns + random.randrange(2 * SECOND // rate)
                record[real.time] = str(time_ns)
                lines.append("\t".join([real.tag, *record]) + "\n")
            texts.append("".join(lines))
        return packed([*texts, end_of_interval(60, 60, 60 * rate), end])

    def of_intervals(real, length):
        texts = [begin + real.header()]
        for second in range(length, 61, length):
            lines = ["\t".join([real.tag, *record[:-1], str(int(int(record[-1]) * jitter("")))]) + "\n" for record in real.records]
            texts.append("".join(lines) + end_of_interval(second, 60, 100 * second))
        return packed([*texts, end])

    before = [f"slower-stage/before/{number}.rec" for number in range(1, 6)]
    yield "rx-latency", of_aggregated(Real(*before)), f"{rate} packets a second"
    yield "tx-latency", of_aggregated(Real("earlier/tx-latency.txt")), f"{rate} packets a second"
    yield "net-latency", of_aggregated(Real("earlier/net-latency.txt")), f"{rate} packets a second"
    yield "sock-latency", of_aggregated(Real("own-sock-latency.txt")), f"{rate} requests a second"
    yield "packet-flow", of_records(Real("packet-flow.rec")), f"{rate} packets a second, each a record"
    yield "call-trace", of_records(Real("earlier/own-call-trace.txt")), f"{rate} calls a second, each a record"
    yield "dropwatch", of_intervals(Real("own-dropwatch.txt"), 5), "four rows every 5 s"
    yield "softnet", of_intervals(Real("softnet.rec"), 1), "what rose in each second"
