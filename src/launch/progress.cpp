#include "launch/progress.h"

#include <fmt/format.h>

#include "base/units.h"

namespace stapgen::launch {

namespace {
constexpr std::chrono::seconds worth_telling{2};
}

Progress::Progress(std::ostream& out, ProgressStyle style, Clock::time_point start)
    : out_(out), style_(style), start_(start) {}

void Progress::pass_over(const PassLine& pass, Clock::time_point now) {
    if (pass.pass >= 5) return clear();
    if (style_ == ProgressStyle::lines && pass.real >= worth_telling) {
        out_ << fmt::format("stap pass {}: {} took {}\n", pass.pass, pass_name(pass.pass),
                            base::format_duration(pass.real));
        out_.flush();
    }
    pass_ = pass.pass + 1;
    start_ = now;
    if (pass.failed || pass_ > 4) {
        clear();
    } else {
        draw(now);
    }
}

void Progress::tick(Clock::time_point now) {
    if (pass_ <= 4) draw(now);
}

void Progress::draw(Clock::time_point now) {
    if (style_ != ProgressStyle::terminal) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    const auto text = fmt::format("stap pass {} of 4: {} ... {} s", pass_, pass_name(pass_), seconds);
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

}  // namespace stapgen::launch
