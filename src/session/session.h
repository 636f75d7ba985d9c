// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "analyze/analyzer.h"
#include "base/result.h"
#include "decode/record.h"
#include "recording/facts.h"
#include "report/presentation.h"
#include "session/selection.h"

namespace stapgen::session {

/// Makes the listener that receives each record as it comes.
using RecordWriters = std::function<std::unique_ptr<report::RecordWriter>()>;

struct SessionOptions {
    bool events = false;             ///< each record is written as it comes
    bool keep_intervals = false;     ///< whether take_interval() is wanted
    std::int64_t resolution_ns = 1;  ///< stages are multiples of it
    bool keep_series = true;         ///< whether Summary::series is wanted
    RecordWriters records{};         ///< instead of the presentation's
    Selection selection{};           ///< records beside it count as filtered
};

/// One measurement, wherever its lines come from: lines and facts go in, a Summary comes out, and whoever wants to
/// hears each line.
class Session {
  public:
    using Listener = std::function<void(const decode::Line&)>;

    /// `presentation` must outlive it. What is written record by record (events, a trace) goes to `out`.
    Session(const report::Presentation& presentation, SessionOptions options, std::ostream& out);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Hears each line from now on, once it has been added.
    void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

    /// The lines in their order, from that of the header on; what the header is of must outlive the session.
    void add(const decode::Line& line);
    void add(const decode::Record& record);
    /// Why records with this header cannot be shown as asked for: then all lines are passed over.
    [[nodiscard]] const std::optional<base::Error>& refusal() const { return refusal_; }
    /// Nothing before the header, and after a refusal.
    [[nodiscard]] const std::optional<analyze::Analyzer>& analyzer() const { return analyzer_; }
    [[nodiscard]] const analyze::AnalyzerOptions& analyzer_options() const { return options_; }

    void set(recording::Setup setup);
    void set(recording::Outcome outcome) { facts_.outcome = std::move(outcome); }
    [[nodiscard]] const recording::RunFacts& facts() const { return facts_; }

    /// The interval that the last line closed, once.
    std::optional<analyze::Summary> take_interval();
    /// Everything so far, with the facts but for names.
    [[nodiscard]] analyze::Summary summary() const;
    /// Lets go of what is in its summary. Nothing may be added any more.
    void release() { analyzer_.reset(); }
    /// Nothing more comes: writes the end of what is written record by record.
    void end();

  private:
    void begin(const decode::Header& header);
    bool wants(const decode::Record& record);

    const report::Presentation& presentation_;
    analyze::AnalyzerOptions options_;
    std::optional<analyze::Analyzer> analyzer_;
    bool events_;
    Selector selector_;
    std::unique_ptr<report::RecordWriter> records_;  ///< may be null
    std::vector<Listener> listeners_;
    std::optional<base::Error> refusal_;
    recording::RunFacts facts_;
    bool setup_known_ = false;
};

}  // namespace stapgen::session
