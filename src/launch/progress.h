#pragma once

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

#include "launch/messages.h"

namespace stapgen::launch {

enum class ProgressStyle {
    none,      ///< -q
    lines,     ///< one line for each finished pass that took its time
    terminal,  ///< one line, redrawn, gone at the end
};

/// Shows which pass of stap runs, and for how long. Time is handed in, so that tests need none.
class Progress {
  public:
    using Clock = std::chrono::steady_clock;

    Progress(std::ostream& out, ProgressStyle style, Clock::time_point start);

    void pass_over(const PassLine& pass, Clock::time_point now);
    void tick(Clock::time_point now);
    /// Takes the redrawn line away; before anything else is written to the same terminal.
    void clear();

  private:
    void draw(Clock::time_point now);

    std::ostream& out_;
    ProgressStyle style_;
    Clock::time_point start_;
    int pass_ = 1;
    std::string shown_;
};

}  // namespace stapgen::launch
