// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace stapgen::launch {

namespace {
constexpr std::chrono::seconds min_reported{2};
}

void Progress::begin(std::string what, Clock::time_point now) {
    what_ = std::move(what);
    start_ = now;
    tick(now);
}

void Progress::begin_pass(int pass, Clock::time_point now) {
    begin(fmt::format("stap pass {} of 4: {}", pass, pass_name(pass)), now);
}

void Progress::pass_over(const PassLine& pass, Clock::time_point now) {
    if (pass.pass >= 5) return end();
    if (style_ == ProgressStyle::lines && pass.real >= min_reported) {
        out_ << fmt::format("stap pass {}: {} took {}\n", pass.pass, pass_name(pass.pass),
                            base::format_duration(pass.real));
        out_.flush();
    }
    if (pass.failed || pass.pass == 4) {
        end();
    } else {
        begin_pass(pass.pass + 1, now);
    }
}

void Progress::tick(Clock::time_point now) {
    if (style_ != ProgressStyle::terminal || what_.empty()) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    const auto time = fmt::format(" ... {} s", seconds);
    // The last column stays free: some terminals go on to the next line there.
    const auto room = columns_ == 0 ? what_.size() : columns_ - std::min(columns_, time.size() + 1);
    const auto text = what_.substr(0, room) + time;
    if (text == shown_) return;
    out_ << "\r\x1b[K" << text;
    out_.flush();
    shown_ = text;
}

void Progress::clear() {
    if (shown_.empty()) return;
    out_ << "\r\x1b[K";
    out_.flush();
    shown_.clear();
}

void Progress::end() {
    clear();
    what_.clear();
}

ProgressStyle progress_style(bool quiet) {
    if (quiet) return ProgressStyle::none;
    const char* name = std::getenv("TERM");
    const bool redraws = ::isatty(STDERR_FILENO) == 1 && name != nullptr && std::string_view(name) != "dumb";
    return redraws ? ProgressStyle::terminal : ProgressStyle::lines;
}

}  // namespace stapgen::launch
