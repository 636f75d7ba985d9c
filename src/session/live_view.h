// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <streambuf>
#include <string>

#include "analyze/analyzer.h"
#include "base/result.h"
#include "decode/record.h"
#include "launch/child_process.h"
#include "live/frame.h"
#include "live/terminal.h"

namespace stapgen::session {

/// Keeps what is written to std::cerr, and writes it when it ends.
class StderrCapture {
  public:
    StderrCapture();
    StderrCapture(const StderrCapture&) = delete;
    StderrCapture& operator=(const StderrCapture&) = delete;
    ~StderrCapture();

    /// The last line that has an end; empty: none.
    [[nodiscard]] std::string last_line() const;

  private:
    std::ostringstream text_;
    std::streambuf* before_;
};

/// The subject of a live view.
struct LiveSubject {
    const decode::Header* header = nullptr;  ///< must outlive the view
    decode::Ready ready;                     ///< the line with which the measurement began
    kinds::Settings options;                 ///< as of the whole run's Analyzer
    std::string filters;                     ///< as typed
    bool hide_benign = false;                ///< of drops
};

/// A measurement as it goes on, on the terminal. Messages for stderr is in its head, and on stderr when it
/// ends.
class LiveView {
  public:
    static base::Result<std::unique_ptr<LiveView>> open(LiveSubject subject, base::Colours colours);

    /// Every line, whatever the parser made of it.
    void line(const decode::Line& line);
    /// One that is over.
    void interval(kinds::Measured measured);
    /// To be called often: takes keys. `whole` is of the whole run. What is to be drawn, where that is due: the caller
    /// puts names into it, and calls draw(); else null.
    kinds::Measured* tick(const analyze::Analyzer& whole, launch::Control& control);
    void draw();

  private:
    using Clock = std::chrono::steady_clock;

    LiveView(LiveSubject subject, std::unique_ptr<live::Terminal> terminal);
    /// Whether any was pressed.
    bool take_keys(launch::Control& control);
    void begin_window();
    void look(const analyze::Analyzer& whole);
    [[nodiscard]] rows::Results results_of(const kinds::Measured& measured) const;
    void draw_frame();

    LiveSubject subject_;
    StderrCapture stderr_;
    std::unique_ptr<live::Terminal> terminal_;  ///< given back before what was captured is written
    live::State state_;
    live::Scene scene_;
    live::Shown shown_;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point looked_ = begun_, next_look_ = begun_;
    kinds::Measured window_, run_;  ///< what is drawn; of the run the account
    std::optional<kinds::Measured> last_interval_;
    std::optional<analyze::Analyzer> since_;  ///< of what came after `r`
    Clock::time_point since_at_;
};

}  // namespace stapgen::session
