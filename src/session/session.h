// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/analyzer.h"
#include "base/result.h"
#include "decode/record.h"
#include "recording/facts.h"
#include "session/presentation.h"
#include "session/selection.h"

namespace stapgen::session {

struct SessionOptions {
    bool events = false;             ///< single records are wanted: what has none is refused
    bool keep_intervals = false;     ///< whether Added::interval is wanted
    std::int64_t resolution_ns = 1;  ///< stages are multiples of it
    bool keep_series = true;         ///< whether rows::Series are
    Selection selection{};           ///< records beside it count as filtered
};

/// The effect of a line on a session.
struct Added {
    bool taken = false;    ///< it counts; else it came before the header, is not of the selection, or all is refused
    bool refused = false;  ///< it is a header that was refused: see Session::refusal()
    std::optional<kinds::Measured> interval{};  ///< that it closed
};

/// One measurement, wherever its lines come from: lines and facts go in, what was measured comes out.
class Session {
  public:
    /// `presentation` must outlive it.
    Session(const Presentation& presentation, SessionOptions options);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// The lines in their order, from that of the header on; what the header is of must outlive the session.
    Added add(const decode::Line& line);
    /// Whether it was taken.
    bool add(const decode::Record& record);
    /// Why records with this header cannot be shown as asked for: then all lines are passed over.
    [[nodiscard]] const std::optional<base::Error>& refusal() const { return refusal_; }
    /// Nothing before the header, and after a refusal.
    [[nodiscard]] const std::optional<analyze::Analyzer>& analyzer() const { return analyzer_; }
    [[nodiscard]] const kinds::Settings& analyzer_options() const { return options_; }

    void set(recording::Setup setup);
    void set(recording::Outcome outcome) { facts_.outcome = std::move(outcome); }
    [[nodiscard]] const recording::RunFacts& facts() const { return facts_; }

    /// Everything so far, with the facts but for names.
    [[nodiscard]] kinds::Measured measured() const;
    /// Lets go of what is in its measured. Nothing may be added any more.
    void release() { analyzer_.reset(); }
    /// Nothing more comes.
    void end();

  private:
    void begin(const decode::Header& header);
    bool wants(const decode::Record& record);

    const Presentation& presentation_;
    kinds::Settings options_;
    std::optional<analyze::Analyzer> analyzer_;
    bool events_;
    Selector selector_;
    std::optional<base::Error> refusal_;
    recording::RunFacts facts_;
    bool setup_known_ = false;
};

/// Why and when the records of a recording were kept. Texts are as long as those that stapgen writes.
rows::Kept kept_row(const recording::Kept& kept);

/// Hands what was taken to a writer of single records: when the measurement began, and each thing that happened.
/// Counts beside the header's own kind are in the report alone.
void write(show::RecordWriter& to, const decode::Line& line);
void write(show::RecordWriter& to, const decode::Record& record);

}  // namespace stapgen::session
