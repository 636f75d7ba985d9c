// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "show/html/html_page.h"

/// The scales of pictures, and the marks on them.
namespace stapgen::show::html {

/// Where the last mark of a scale may be: its text, to its right, has room on a phone.
inline constexpr double last_tick = 0.85;

/// To base 2; of what is below 1 that of 1.
double log_of(std::int64_t value);

/// Adds a mark, unless it is beyond last_tick or less than `room` behind the one before it.
void add_tick(std::vector<Tick>& ticks, Tick tick, double room);

/// A logarithmic scale of whole numbers; those below 1 are at 1.
class LogScale {
  public:
    /// Spans a doubling at least.
    LogScale(std::int64_t low, std::int64_t high);

    /// 0 to 1.
    [[nodiscard]] double at(std::int64_t value) const;
    /// As Plot::x_scale.
    [[nodiscard]] std::string formula(bool is_time = true) const;

    /// `max_ticks` at most: powers of ten, or each second or third of them; on a short scale 1, 2 and 5 times these.
    /// None is above `last`, 0 to 1. Durations in ns where `is_time`.
    [[nodiscard]] std::vector<Tick> ticks(std::size_t max_ticks, double last = last_tick, bool is_time = true) const;

  private:
    double low_, span_;
};

/// Marks from 0 on, at multiples of a step of 1, 2 or 5 times a power of ten; three to five of them.
std::vector<Tick> linear_ticks(std::int64_t max, bool is_time);

/// A part of the time of a measurement.
struct Span {
    std::int64_t start_ns = 0, end_ns = 0;
};

/// Spans of about the same length, side by side. Time that none of them covers, as that between recordings, is an empty
/// column, however long it is.
class TimeColumns {
  public:
    /// In order of their starts. Spans that begin in an earlier one share its column.
    explicit TimeColumns(const std::vector<Span>& spans);

    /// With those that are empty.
    [[nodiscard]] std::size_t count() const { return count_; }
    /// The column of each span.
    [[nodiscard]] const std::vector<std::size_t>& columns() const { return columns_; }
    /// The empty ones.
    [[nodiscard]] const std::vector<std::size_t>& gaps() const { return gaps_; }
    /// Since the first start; where there are gaps, at the starts of what follows them.
    [[nodiscard]] std::vector<Tick> ticks() const;
    /// In columns from the left; nothing where no span is.
    [[nodiscard]] std::optional<double> place_of(std::int64_t ns) const;
    /// As Plot::x_scale; empty where there are gaps.
    [[nodiscard]] std::string formula() const;
    /// "each column is 31.25 ms", and what an empty one is.
    [[nodiscard]] std::string caption() const;

  private:
    std::size_t count_ = 0;
    std::vector<std::size_t> columns_, gaps_;
    /// When the first column begins and those after gaps, and their places.
    std::vector<std::pair<std::int64_t, std::size_t>> starts_;
    Span first_, last_;
};

/// The outline of a distribution in a box of 100 by 100, whose y goes down.
std::string path_of(const std::vector<Step>& steps);
/// Lines at the marks of a plot whose box is 100 by 100.
Shape grid_of(const Plot& plot);
/// The path of a rectangle, in units of a plot's box.
std::string rectangle(double x, double y, double width, double height);

}  // namespace stapgen::show::html
