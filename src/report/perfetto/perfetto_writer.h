#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "decode/record.h"
#include "report/model/record_writer.h"
#include "report/perfetto/perfetto_trace.h"

namespace stapgen::report {

/// Draws records as they come, of whatever recipe, into a trace for Perfetto's viewer (--format perfetto). Each record
/// with stages has a track of its own, its stages one behind the other up to its time; a stage that a CPU or a thread
/// spent is a slice of that one's track, too, and a flow goes through all slices of the record. A record with a depth
/// is a slice of the CPU or the thread that made the call, inside of those above it. Any other record that has a time
/// is an instant. Holds no record, and stops drawing where a viewer would choke: see max_tracks and max_bytes.
class PerfettoWriter final : public RecordWriter {
  public:
    /// A record that would go beyond is left out. The viewer keeps a row for each track, and all of the trace in
    /// memory, several times as large as the file.
    static constexpr std::size_t max_tracks = 10'000;
    static constexpr std::uint64_t max_bytes = 256'000'000;

    explicit PerfettoWriter(std::ostream& out) : trace_(out) {}

    /// Of one recording: a trace has one clock.
    void record(const decode::Record& record) override;
    void ready(const decode::Ready& ready) override { trace_.clocks(ready); }
    /// The rest of the trace. What is not in it is told, a sentence for each reason; it is in the trace, too.
    std::vector<std::string> end() override;

  private:
    struct Stage {
        std::size_t field = 0;
        std::string name;
        decode::Attribute spent_by = decode::Attribute::none;
    };
    /// What there is to draw in one kind of record.
    struct Layout {
        std::string tag;
        std::optional<std::size_t> time, depth, cpu, pid, tid, comm, direction, function;
        std::vector<Stage> stages;        ///< but for a total
        std::vector<std::size_t> others;  ///< fields that are told beside
        std::uint64_t group = 0;          ///< the track of all of them, 0: none yet
    };
    /// Slices that overlap are on tracks of their own, which the viewer shows as one.
    struct Lane {
        std::uint64_t track = 0;
        std::int64_t end = 0;  ///< of its last slice
    };
    struct Runner {
        std::vector<Lane> lanes;
        std::int64_t drawn = 0;  ///< the last record here, whose stages stay together
        std::size_t lane = 0;    ///< where it is
        /// Of calls, by depth: when the first one began that is inside of a call not yet seen.
        std::vector<std::optional<std::int64_t>> first_inside;
    };

    Layout& layout_of(const decode::Schema& schema);
    void draw(Layout& layout, const decode::Record& record);
    void draw_stages(Layout& layout, const decode::Record& record);
    void draw_call(Layout& layout, const decode::Record& record);
    Runner* runner_of(const Layout& layout, const decode::Record& record, decode::Attribute kind);
    void add_lane(const Layout& layout, const decode::Record& record, decode::Attribute kind, Runner& runner);
    Lane& lane_of(const Layout& layout, const decode::Record& record, decode::Attribute kind, Runner& runner,
                  std::int64_t from);
    std::uint64_t group_of(Layout& layout);

    PerfettoTrace trace_;
    std::vector<std::optional<Layout>> layouts_;  ///< by the schema's index
    std::map<std::int64_t, Runner> cpus_, threads_;
    std::uint64_t cpu_group_ = 0;
    std::int64_t drawn_ = 0;  ///< records with a track of their own
    std::int64_t left_out_ = 0, without_time_ = 0, records_ = 0, last_time_ = 0;
};

}  // namespace stapgen::report
