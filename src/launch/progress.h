// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>

#include "launch/messages.h"

namespace stapgen::launch {

enum class ProgressStyle {
    none,      ///< -q
    lines,     ///< one line for each finished pass that took its time
    terminal,  ///< one line, redrawn, gone at the end
};

/// Shows what is being done before a measurement begins, and for how long. Time is handed in, so that tests need none.
class Progress {
  public:
    using Clock = std::chrono::steady_clock;

    /// `columns`: of the terminal, on which a longer line could not be redrawn; 0: not known.
    Progress(std::ostream& out, ProgressStyle style, std::size_t columns)
        : out_(out), style_(style), columns_(columns) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { end(); }

    /// It begins with the first pass of stap.
    void begin_passes(Clock::time_point now) { begin_pass(1, now); }
    void pass_over(const PassLine& pass, Clock::time_point now);
    /// Something else that takes its time.
    void begin(std::string what, Clock::time_point now);
    void tick(Clock::time_point now);
    /// Takes the redrawn line away; before anything else is written to the same terminal.
    void clear();
    /// For good.
    void end();

  private:
    void begin_pass(int pass, Clock::time_point now);

    std::ostream& out_;
    ProgressStyle style_;
    std::size_t columns_;
    std::string what_;  ///< empty: nothing
    Clock::time_point start_{};
    std::string shown_;
};

/// How progress is shown on stderr: in a line that is redrawn where it is a terminal that can do that.
ProgressStyle progress_style(bool quiet);

}  // namespace stapgen::launch
