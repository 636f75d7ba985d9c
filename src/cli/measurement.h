#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyzer.h"
#include "base/result.h"
#include "cli/live_view.h"
#include "cli/naming.h"
#include "cli/recorder.h"
#include "cli/run_options.h"
#include "decode/record_parser.h"
#include "host/net_counters.h"
#include "host/system.h"
#include "launch/child_process.h"
#include "launch/progress.h"
#include "recipe/catalog.h"
#include "report/event_writer.h"
#include "report/perfetto_writer.h"

namespace stapgen::cli {

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
    /// Writes the report of the whole. `interrupted`: by the user.
    base::Result<void> finish(const analyze::Transport& transport, bool interrupted);

  private:
    using Clock = std::chrono::steady_clock;

    void output(launch::Line line, launch::Control& control);
    void error(launch::Line line);
    void tick(launch::Control& control);
    void begin(const decode::Header& header);
    void ready(const decode::Ready& ready);
    void open_live_view(const decode::Ready& ready);
    void read_counters();
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
    std::optional<report::EventWriter> events_;
    std::optional<report::PerfettoWriter> trace_;
    std::optional<base::Error> refusal_;
    std::optional<Clock::time_point> ready_at_;
    std::int64_t intervals_ = 0;
    std::vector<recipe::Counter> counters_;  ///< of the header's recipe
    host::NetCounters counters_before_;
    std::optional<host::NetCounters> counters_after_;
    Names own_names_;
    Names& names_;               ///< the recorder's, where there is one: the table is large
    launch::Progress progress_;  ///< of loading
    std::unique_ptr<LiveView> live_;
};

}  // namespace stapgen::cli
