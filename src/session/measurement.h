#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyzer.h"
#include "base/result.h"
#include "decode/record_parser.h"
#include "host/clocks.h"
#include "host/net_counters.h"
#include "host/system.h"
#include "launch/child_process.h"
#include "launch/messages.h"
#include "launch/progress.h"
#include "overhead/probe_cost.h"
#include "recipe/catalog.h"
#include "session/live_view.h"
#include "session/names.h"
#include "session/plan.h"
#include "session/recorder.h"

namespace stapgen::session {

/// How a run ended, as far as its lines do not tell.
struct RunEnd {
    launch::Losses losses{};
    std::string broke_off{};   ///< why it ended though nobody asked it to; empty if it did not
    bool interrupted = false;  ///< by the user
};

/// Everything that happens between the lines of a measurement, wherever they come from, and the report.
class Measurement {
  public:
    /// `name` is for messages only; the catalog has the counters of the recipe that the header names. `recorder` may be
    /// null. All that is given must outlive it.
    Measurement(const host::System& machine, const recipe::Catalog& catalog, std::string name, const MeasurePlan& plan,
                Recorder* recorder);

    /// The module is being loaded, which is shown on a terminal until the measurement begins.
    void begin_loading();
    /// What is to be done with lines as they come.
    launch::Handlers handlers();
    /// Writes the report of the whole.
    base::Result<void> finish(const RunEnd& end);
    /// For how long it has measured; 0: no probe was live.
    [[nodiscard]] std::chrono::nanoseconds measured() const;
    /// Whether the script's last line has come: it ended in order, or was asked to.
    [[nodiscard]] bool is_closed() const { return is_closed_; }

  private:
    using Clock = std::chrono::steady_clock;

    void output(launch::Line line, launch::Control& control);
    void error(launch::Line line);
    void tick(launch::Control& control);
    void begin(const decode::Header& header);
    void ready(const decode::Ready& ready);
    void look_at_target(launch::Control& control);
    void open_live_view(const decode::Ready& ready);
    void read_counters();
    analyze::Summary summary_of(const RunEnd& end);
    std::vector<analyze::Counter> counter_rises();
    void show_interval();
    void put_names(analyze::Summary& summary);
    [[nodiscard]] analyze::AnalyzerOptions options_of(const decode::Header& header) const;

    const host::System& machine_;
    const recipe::Catalog& catalog_;
    std::string name_;
    const MeasurePlan& plan_;
    Recorder* recorder_;
    decode::RecordParser parser_;
    std::optional<analyze::Analyzer> analyzer_;
    std::unique_ptr<report::RecordWriter> records_;
    std::optional<base::Error> refusal_;
    std::optional<Clock::time_point> ready_at_;
    host::ClockOffsets clocks_at_ready_;
    bool target_has_ended_ = false, is_closed_ = false;
    std::int64_t bytes_ = 0;  ///< of all lines, with their ends
    std::int64_t intervals_ = 0;
    std::vector<recipe::Counter> counters_;  ///< of the header's recipe
    std::optional<recipe::Cost> expected_;   ///< likewise
    overhead::CostWatch cost_;
    host::NetCounters counters_before_;
    std::optional<host::NetCounters> counters_after_;
    Names own_names_;
    Names& names_;               ///< the recorder's, where there is one: the table is large
    launch::Progress progress_;  ///< of loading
    std::unique_ptr<LiveView> live_;
};

}  // namespace stapgen::session
