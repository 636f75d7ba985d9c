#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a trace as Perfetto's trace_processor does, without its code, and refuses what is not right: read_trace.py FILE|-

read() gives what is in it; run by hand it prints that as text. Checked are: the encoding, to the byte; that every field
is one that Perfetto declares, of the type it declares; that tracks are declared once, before they are used; that each
slice ends, inside of the one around it; that every flow has two ends at least.
"""

import collections
import sys

# What we use of the messages in protos/perfetto/trace/ of Perfetto: number: (name, type). A dict is a message.
ANNOTATION = {4: ("int_value", "int"), 6: ("string_value", "text"), 10: ("name", "text")}
EVENT = {4: ("debug_annotations", ANNOTATION), 9: ("type", "uint"), 11: ("track_uuid", "uint"), 23: ("name", "text"),
         47: ("flow_ids", "fixed64")}
THREAD = {1: ("pid", "int"), 2: ("tid", "int"), 5: ("thread_name", "text")}
TRACK = {1: ("uuid", "uint"), 2: ("name", "text"), 4: ("thread", THREAD), 5: ("parent_uuid", "uint"),
         11: ("child_ordering", "uint"), 12: ("sibling_order_rank", "int"), 15: ("sibling_merge_behavior", "uint")}
CLOCK = {1: ("clock_id", "uint"), 2: ("timestamp", "uint")}
SNAPSHOT = {1: ("clocks", CLOCK), 2: ("primary_trace_clock", "uint")}
# ChromeEventBundle with ChromeMetadata, which the viewer's table `metadata` shows.
BUNDLE = {2: ("metadata", {1: ("name", "text"), 2: ("string_value", "text")})}
PACKET = {5: ("chrome_events", BUNDLE), 6: ("clock_snapshot", SNAPSHOT), 8: ("timestamp", "uint"), 10: ("trusted_packet_sequence_id", "uint"),
          11: ("track_event", EVENT), 58: ("timestamp_clock_id", "uint"), 60: ("track_descriptor", TRACK)}
REPEATED = {"metadata", "debug_annotations", "flow_ids", "clocks"}
REALTIME, MONOTONIC = 1, 3
SLICE_BEGIN, SLICE_END, INSTANT = 1, 2, 3


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            assert value < 1 << 64, "a varint of more than 64 bits"
            return value, at
        shift += 7


def message(data, fields):
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        assert number in fields, f"field {number} is not known here"
        name, kind = fields[number]
        if kind == "fixed64":
            assert wire == 1, (name, wire)
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif kind in ("int", "uint"):
            assert wire == 0, (name, wire)
            value, at = varint(data, at)
            if kind == "int" and value >= 1 << 63:
                value -= 1 << 64
        else:
            assert wire == 2, (name, wire)
            length, at = varint(data, at)
            assert at + length <= len(data), f"{name} ends behind its message"
            value, at = data[at:at + length], at + length
            value = value.decode("utf-8") if kind == "text" else message(value, kind)
        if name in REPEATED:
            found.setdefault(name, []).append(value)
        else:
            assert name not in found, f"{name} twice"
            found[name] = value
    return found


def packets(data):
    at = 0
    while at < len(data):
        assert data[at] == 0x0A, "no TracePacket"
        length, at = varint(data, at + 1)
        assert at + length <= len(data), "the last packet is cut short"
        yield message(data[at:at + length], PACKET)
        at += length


class Trace:
    """tracks: uuid to descriptor. slices and instants: in order of time, each with track, name, begin, end, depth, flow
    (0: none) and annotations. metadata: name to text. flows: id to its slices, in the order of their begins. wall: ns to add for the time of day."""

    def __init__(self, data):
        self.tracks, self.slices, self.instants, self.wall, self.metadata = {}, [], [], None, {}
        events = []
        for place, packet in enumerate(packets(data)):
            assert packet["trusted_packet_sequence_id"] == 1, packet
            if place == 0:
                self.read_clocks(packet["clock_snapshot"])
            elif "chrome_events" in packet:
                self.metadata |= {one["name"]: one["string_value"] for one in packet["chrome_events"]["metadata"]}
            elif "track_descriptor" in packet:
                track = packet["track_descriptor"]
                assert track["uuid"] > 0 and track["uuid"] not in self.tracks, track
                assert track.get("parent_uuid") in {None, *self.tracks}, track
                self.tracks[track["uuid"]] = track
            else:
                assert packet["timestamp_clock_id"] == MONOTONIC, packet
                assert packet["track_event"]["track_uuid"] in self.tracks, packet
                events.append((packet["timestamp"], place, packet["track_event"]))
        self.read_events(sorted(events, key=lambda event: event[:2]))
        self.flows = collections.defaultdict(list)
        for one in self.slices:
            for flow in filter(None, [one["flow"], *one["other_flows"]]):
                self.flows[flow].append(one)
        assert all(len(ends) > 1 for ends in self.flows.values()), "a flow with one end"

    def read_clocks(self, snapshot):
        assert snapshot["primary_trace_clock"] == MONOTONIC, snapshot
        clocks = {clock["clock_id"]: clock["timestamp"] for clock in snapshot["clocks"]}
        if REALTIME in clocks:
            self.wall = clocks[REALTIME] - clocks[MONOTONIC]

    def read_events(self, events):
        open_slices = collections.defaultdict(list)
        for time, _, event in events:
            track = event["track_uuid"]
            stack = open_slices[track]
            if event["type"] == SLICE_END:
                assert stack, f"a slice of track {track} ends that did not begin"
                stack.pop()["end"] = time
                continue
            flows = event.get("flow_ids", [])
            assert len(flows) <= 2 and 0 not in flows, flows
            annotations = {one["name"]: one.get("int_value", one.get("string_value"))
                           for one in event.get("debug_annotations", [])}
            one = {"track": track, "name": event["name"], "begin": time, "end": time, "depth": len(stack),
                   "flow": flows[0] if flows else 0, "other_flows": flows[1:], "annotations": annotations}
            if event["type"] == INSTANT:
                self.instants.append(one)
            else:
                assert event["type"] == SLICE_BEGIN, event
                stack.append(one)
                self.slices.append(one)
        assert not any(open_slices.values()), "a slice without an end"

    def name_of(self, track):
        descriptor = self.tracks[track]
        thread = descriptor.get("thread")
        name = f"{thread['thread_name']} {thread['tid']}" if thread else descriptor["name"]
        return f"{self.name_of(descriptor['parent_uuid'])} / {name}" if "parent_uuid" in descriptor else name


def read(path):
    with open(path, "rb") if path != "-" else sys.stdin.buffer as file:
        return Trace(file.read())


def main():
    trace = read(sys.argv[1])
    print(f"{len(trace.tracks)} tracks, {len(trace.slices)} slices, {len(trace.instants)} instants, "
          f"{len(trace.flows)} flows")
    on_track = collections.defaultdict(list)
    for one in trace.slices + trace.instants:
        on_track[one["track"]].append(one)
    for track in trace.tracks:
        print(trace.name_of(track))
        for one in sorted(on_track[track], key=lambda event: (event["begin"], event["depth"])):
            flow = f", flow {one['flow']}" if one["flow"] else ""
            about = "".join(f", {key} {value}" for key, value in one["annotations"].items())
            print(f"  {'  ' * one['depth']}{one['begin']} +{one['end'] - one['begin']} {one['name']}{flow}{about}")


if __name__ == "__main__":
    main()
