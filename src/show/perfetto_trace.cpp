// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/perfetto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <variant>

#include "base/text.h"
#include "show/model/texts.h"

namespace stapgen::show {

namespace {

using protozero::pbf_writer;

/// Numbers of the fields, and of values, as Perfetto's .proto files give them.
namespace trace {
constexpr auto packet = 1;
}
namespace packet {
constexpr auto chrome_events = 5, clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11,
               timestamp_clock = 58, track_descriptor = 60;
}
namespace bundle {
constexpr auto metadata = 2;
}
namespace metadatum {
constexpr auto name = 1, string_value = 2;
}
namespace snapshot {
constexpr auto clocks = 1, primary_trace_clock = 2;
}
namespace clock {
constexpr auto id = 1, timestamp = 2;
constexpr auto realtime = 1, monotonic = 3;
}  // namespace clock
namespace descriptor {
constexpr auto uuid = 1, name = 2, thread = 4, parent_uuid = 5, child_ordering = 11, sibling_order_rank = 12,
               sibling_merge_behavior = 15;
constexpr auto explicit_order = 3, merge_none = 2;
}  // namespace descriptor
namespace thread {
constexpr auto pid = 1, tid = 2, name = 5;
}
namespace event {
constexpr auto debug_annotations = 4, type = 9, track_uuid = 11, name = 23, flow_ids = 47;
constexpr auto slice_begin = 1, slice_end = 2, instant = 3;
}  // namespace event
namespace annotation {
constexpr auto int_value = 4, string_value = 6, name = 10;
}

/// One writer wrote all packets.
constexpr std::uint32_t the_sequence = 1;

/// The number of bytes that wait for the clocks, and that are written at a time.
constexpr std::size_t buffered = std::size_t{1} << 20;

void add_clock(pbf_writer& clocks, std::uint32_t id, std::int64_t ns) {
    pbf_writer one(clocks, snapshot::clocks);
    one.add_uint32(clock::id, id);
    one.add_uint64(clock::timestamp, static_cast<std::uint64_t>(ns));
}

void add_annotation(pbf_writer& to, const table::GroupField& field) {
    pbf_writer one(to, event::debug_annotations);
    one.add_string(annotation::name, base::printable(field.key));
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
        one.add_int64(annotation::int_value, *number);
    } else {
        one.add_string(annotation::string_value, base::printable(group_text(field)));
    }
}

}  // namespace

void PerfettoTrace::clocks(const decode::Ready& ready) {
    if (!head_.empty()) return;
    pbf_writer all(head_);
    pbf_writer one(all, trace::packet);
    one.add_uint32(packet::sequence, the_sequence);
    pbf_writer clocks(one, packet::clock_snapshot);
    add_clock(clocks, clock::monotonic, ready.monotonic_ns);
    if (ready.epoch_ns > 0) add_clock(clocks, clock::realtime, ready.epoch_ns);
    clocks.add_uint32(snapshot::primary_trace_clock, clock::monotonic);
}

void PerfettoTrace::metadata(std::string_view name, std::string_view text) {
    pbf_writer all(metadata_);
    pbf_writer one(all, trace::packet);
    one.add_uint32(packet::sequence, the_sequence);
    pbf_writer events(one, packet::chrome_events);
    pbf_writer said(events, bundle::metadata);
    said.add_string(metadatum::name, base::printable(name));
    said.add_string(metadatum::string_value, base::printable(text));
}

std::uint64_t PerfettoTrace::track(std::string_view name, std::uint64_t parent, std::int64_t rank, bool alone) {
    pbf_writer all(buffer_);
    pbf_writer one(all, trace::packet);
    one.add_uint32(packet::sequence, the_sequence);
    pbf_writer track(one, packet::track_descriptor);
    track.add_uint64(descriptor::uuid, ++tracks_);
    if (parent != 0) track.add_uint64(descriptor::parent_uuid, parent);
    track.add_string(descriptor::name, base::printable(name));
    track.add_enum(descriptor::child_ordering, descriptor::explicit_order);
    track.add_int32(descriptor::sibling_order_rank, static_cast<std::int32_t>(rank));
    if (alone) track.add_enum(descriptor::sibling_merge_behavior, descriptor::merge_none);
    return tracks_;
}

std::uint64_t PerfettoTrace::thread_track(std::int64_t pid, std::int64_t tid, std::string_view name) {
    pbf_writer all(buffer_);
    pbf_writer one(all, trace::packet);
    one.add_uint32(packet::sequence, the_sequence);
    pbf_writer track(one, packet::track_descriptor);
    track.add_uint64(descriptor::uuid, ++tracks_);
    pbf_writer thread(track, descriptor::thread);
    thread.add_int32(thread::pid, static_cast<std::int32_t>(pid));
    thread.add_int32(thread::tid, static_cast<std::int32_t>(tid));
    thread.add_string(thread::name, base::printable(name));
    return tracks_;
}

void PerfettoTrace::event(int type, std::uint64_t track, std::string_view name, std::int64_t time, std::uint64_t flow,
                          std::uint64_t other_flow, const table::Group& about) {
    {
        pbf_writer all(buffer_);
        pbf_writer one(all, trace::packet);
        one.add_uint64(packet::timestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0)));
        one.add_uint32(packet::timestamp_clock, clock::monotonic);
        one.add_uint32(packet::sequence, the_sequence);
        pbf_writer of(one, packet::track_event);
        of.add_enum(event::type, type);
        of.add_uint64(event::track_uuid, track);
        if (!name.empty()) of.add_string(event::name, base::printable(name));
        for (const auto id : {flow, other_flow})
            if (id != 0) of.add_fixed64(event::flow_ids, id);
        for (const auto& field : about)
            add_annotation(of, field);
    }
    if (buffer_.size() > buffered) flush();
}

void PerfettoTrace::slice(std::uint64_t track, std::string_view name, std::int64_t begin, std::int64_t end,
                          std::uint64_t flow, const table::Group& about, std::uint64_t other_flow) {
    last_ = std::max(last_, end);
    event(event::slice_begin, track, name, begin, flow, other_flow, about);
    event(event::slice_end, track, {}, end, 0, 0, {});
}

void PerfettoTrace::instant(std::uint64_t track, std::string_view name, std::int64_t time, const table::Group& about) {
    last_ = std::max(last_, time);
    event(event::instant, track, name, time, 0, 0, about);
}

void PerfettoTrace::flush() {
    if (!head_written_) {
        // Without a time of day the clock is to be named anyway.
        if (head_.empty()) clocks({});
        out_ << head_;
        written_ += head_.size();
        head_written_ = true;
    }
    for (auto* part : {&metadata_, &buffer_}) {
        out_ << *part;
        written_ += part->size();
        part->clear();
    }
}

void PerfettoTrace::finish(const std::vector<std::string>& missing) {
    for (const auto& sentence : missing)
        instant(track(sentence, 0, 0), sentence, last_, {});
    flush();
    out_.flush();
}

bool PerfettoTrace::has_room(std::size_t tracks) const {
    return written_ + buffer_.size() < max_bytes && tracks_ + tracks <= max_tracks;
}

std::string PerfettoTrace::left_out_text(std::int64_t left_out, std::int64_t all, std::string_view what) {
    return fmt::format("{} of {} {} are not in the trace: its limits are {} tracks and {} MB",
                       base::with_commas(left_out), base::with_commas(all), what, base::with_commas(max_tracks),
                       max_bytes / 1'000'000);
}

std::size_t free_lane(const std::vector<Lane>& lanes, std::int64_t from) {
    const auto free = std::ranges::find_if(lanes, [&](const Lane& lane) { return lane.end <= from; });
    return static_cast<std::size_t>(free - lanes.begin());
}

}  // namespace stapgen::show
