// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "decode/group_keys.h"
#include "decode/record.h"

namespace stapgen::show {

/// The bytes of a trace that Perfetto's viewer and its trace_processor open: TracePackets with TrackDescriptors and
/// TrackEvents, as protos/perfetto/trace of Perfetto declares them. Times are ns of CLOCK_MONOTONIC, which is the
/// trace's clock, 0 or more. Packets may be in any order of time: readers sort them, and those of one time stay as
/// written. Texts may be any bytes.
class PerfettoTrace {
  public:
    explicit PerfettoTrace(std::ostream& out) : out_(out) {}

    /// One moment on two clocks, by which the viewer shows the time of day. It does if this is written before there is
    /// 1 MiB of packets, which is when the first of them are written. Only the first one counts.
    void clocks(const decode::Ready& ready);

    /// What the viewer's table `metadata` says of the trace, of the name with "cr-" before it.
    void metadata(std::string_view name, std::string_view text);

    /// A new track, and its id, which is never 0. `parent` 0: at the top. Children of one parent are shown in the order
    /// of their ranks; those of one name as one, unless they are `alone`.
    std::uint64_t track(std::string_view name, std::uint64_t parent, std::int64_t rank, bool alone = false);
    std::uint64_t thread_track(std::int64_t pid, std::int64_t tid, std::string_view name);

    /// A slice; those of one track may be inside each other, and must not overlap. Slices of one `flow` are
    /// connected in the order of their begins; 0: of none. It may be in two.
    void slice(std::uint64_t track, std::string_view name, std::int64_t begin, std::int64_t end, std::uint64_t flow,
               const table::Group& about, std::uint64_t other_flow = 0);
    void instant(std::uint64_t track, std::string_view name, std::int64_t time, const table::Group& about);

    /// Ends a trace, and has it say what is missing in it.
    void finish(const std::vector<std::string>& missing);

    /// Whether this number of tracks, and slices on them, are not beyond what a viewer can take: it keeps a row for
    /// each track, and all of the trace in memory, several times as large as the file.
    [[nodiscard]] bool has_room(std::size_t tracks) const;
    /// That some did not get any.
    static std::string left_out_text(std::int64_t left_out, std::int64_t all, std::string_view what);

  private:
    static constexpr std::size_t max_tracks = 10'000;
    static constexpr std::uint64_t max_bytes = 256'000'000;

    void event(int type, std::uint64_t track, std::string_view name, std::int64_t time, std::uint64_t flow,
               std::uint64_t other_flow, const table::Group& about);
    void flush();

    std::ostream& out_;
    std::string head_;
    std::string metadata_;
    std::string buffer_;
    bool head_written_ = false;
    std::uint64_t written_ = 0;
    std::size_t tracks_ = 0;
    std::int64_t last_ = 0;  ///< when the last slice or instant ended
};

/// Slices that overlap are on tracks of their own, which the viewer shows as one if they have one name.
struct Lane {
    std::uint64_t track = 0;
    std::int64_t end = 0;  ///< of its last slice
};
/// The place of the first one that is free from then on; their number: there is none.
std::size_t free_lane(const std::vector<Lane>& lanes, std::int64_t from);

}  // namespace stapgen::show
