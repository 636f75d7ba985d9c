// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/live_view.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "analyze/results.h"
#include "base/saturate.h"

namespace stapgen::session {

namespace {

constexpr std::chrono::milliseconds usual_period{500};
/// At most this part of the time is spent on the screen: the rest is for reading.
constexpr int one_part_in = 20;

std::int64_t nanoseconds_since(std::chrono::steady_clock::time_point then) {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

StderrCapture::StderrCapture() : before_(std::cerr.rdbuf(text_.rdbuf())) {}

StderrCapture::~StderrCapture() {
    std::cerr.rdbuf(before_);
    std::cerr << text_.str();
}

std::string StderrCapture::last_line() const {
    const auto text = text_.str();
    const auto end = text.rfind('\n');
    if (end == std::string::npos) return {};
    const auto begin = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    return text.substr(begin + 1, end - begin - 1);  // npos + 1 is 0
}

base::Result<std::unique_ptr<LiveView>> LiveView::open(LiveSubject subject, base::Colours colours) {
    STAPGEN_LET(auto terminal, live::Terminal::open(colours));
    return std::unique_ptr<LiveView>(new LiveView(std::move(subject), std::move(terminal)));
}

LiveView::LiveView(LiveSubject subject, std::unique_ptr<live::Terminal> terminal)
    : subject_(std::move(subject)), terminal_(std::move(terminal)) {
    scene_.title = subject_.header->recipe + subject_.filters;
    subject_.options.keep_intervals = false;  // those are of the whole run
}

void LiveView::line(const decode::Line& line) {
    if (const auto* tick = std::get_if<decode::Tick>(&line); tick != nullptr && !tick->counts.empty())
        scene_.account_reported = true;
    if (since_) since_->add(line);
}

void LiveView::interval(kinds::Measured measured) {
    last_interval_ = std::move(measured);
}

kinds::Measured* LiveView::tick(const analyze::Analyzer& whole, launch::Control& control) {
    const bool pressed = take_keys(control);
    const bool ends = control.ending() && !std::exchange(scene_.ending, control.ending());
    const bool other_window = !state_.paused && state_.window != scene_.window;
    if (ends || other_window || (!state_.paused && Clock::now() >= next_look_)) {
        looked_ = Clock::now();
        look(whole);
        return &window_;
    }
    if (pressed) draw_frame();
    return nullptr;
}

rows::Results LiveView::results_of(const kinds::Measured& measured) const {
    return analyze::results_of(measured, {.hide_benign = subject_.hide_benign});
}

void LiveView::draw() {
    run_.of<rows::Counting>() = window_.of<rows::Counting>();
    scene_.run = results_of(run_);
    scene_.shown = results_of(window_);
    draw_frame();
    next_look_ = looked_ + std::max<Clock::duration>(usual_period, one_part_in * (Clock::now() - looked_));
}

bool LiveView::take_keys(launch::Control& control) {
    bool any = false;
    while (const auto key = terminal_->key()) {
        any = true;
        const auto action = live::press(state_, *key, shown_);
        if (action == live::Action::quit) control.request_stop();
        if (action == live::Action::begin_window) begin_window();
        // The next key is for the screen as it will be after this one.
        shown_.top = state_.top;
        shown_.stage = state_.stage.value_or(shown_.stage);
    }
    return any;
}

void LiveView::begin_window() {
    // An error in the options is one in those of the whole run, too.
    since_ = *analyze::Analyzer::create(*subject_.header, subject_.options);
    since_->add(decode::Line(subject_.ready));
    since_at_ = Clock::now();
    next_look_ = since_at_;
}

void LiveView::look(const analyze::Analyzer& whole) {
    scene_.window = state_.window;
    scene_.run_ns = nanoseconds_since(begun_);
    scene_.window_ns = scene_.run_ns;
    scene_.window_is_there = true;
    scene_.has_since = since_.has_value();
    if (state_.window == live::Window::run) {
        window_ = whole.measured();
    } else if (state_.window == live::Window::since) {
        window_ = since_->measured();
        scene_.window_ns = nanoseconds_since(since_at_);
    } else {
        scene_.window_is_there = last_interval_.has_value();
        window_ = last_interval_ ? *last_interval_ : kinds::Measured();
        scene_.window_ns =
            base::saturating_subtract(window_.end_epoch_ns.value_or(0), window_.start_epoch_ns.value_or(0));
    }
    run_.accounting = whole.accounting();
    scene_.notice = stderr_.last_line();
}

void LiveView::draw_frame() {
    auto frame = live::frame(scene_, state_, terminal_->size(), terminal_->utf8());
    state_.top = frame.shown.top;
    shown_ = std::move(frame.shown);
    terminal_->draw(frame.lines);
}

}  // namespace stapgen::session
