// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.h"
#include "study/factors.h"
#include "study/outliers.h"

/// Which host is different, and whether its kernel or a label makes it so: in sentences, tables, or JSON.
namespace stapgen::fleet {

using table::Separate, table::About, table::Shape;

struct Comparison;
/// Without a full stop: "web17 is different: tcp-app p99 +340 % [+210 %, +520 %], from 1.20 ms to 5.28 ms; none of the
/// 39 others is"; a missing result is stated.
std::string sentence_of(const Comparison& comparison);
/// "kernel 6.12.9, the hosts of dc=fra1, is different: ip-tcp p50 +30 % [+12 %, +51 %], from 7.14 us to 9.28 us, 12
/// hosts against 11 of kernel 6.1.0"; empty where all hosts have one kernel and the same labels.
std::string sentence_of(const study::FactorEffects& factors);

/// The factors, in JSON.
struct Factors {
    std::string sentence;
    std::vector<study::Contrast> rows;

    static constexpr About about{.name = "factors", .shape = Shape::record};
    static constexpr void columns(auto&& column) {
        column(Separate(), "sentence", &Factors::sentence);
        column(Separate(), "rows", &Factors::rows);
    }
};

struct Comparison {
    std::string recipe;
    std::vector<study::Member> members;
    std::vector<table::Percentile> percentiles;
    std::vector<study::Deviation> deviations;
    study::FactorEffects factors;
    double threshold = 0;
    std::vector<std::string> warnings;

    [[nodiscard]] bool has_result() const;                            ///< something could be tested
    [[nodiscard]] std::size_t different() const;                      ///< hosts that stand out
    [[nodiscard]] std::vector<std::string> different_levels() const;  ///< "kernel 6.1.0", "dc=fra1"
    /// The largest difference of this host; null: none.
    [[nodiscard]] const study::Deviation* difference_of(std::string_view host) const;
    [[nodiscard]] std::string_view result() const;  ///< "none", "different", "no-difference"
    [[nodiscard]] std::size_t hosts() const { return members.size(); }

    static constexpr About about{.name = "comparison", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Separate(), "recipe", &Comparison::recipe);
        column(Separate(), "sentence", [](const Comparison& row) { return sentence_of(row); });
        column(Separate(), "result", &Comparison::result);
        column(Separate(), "hosts", &Comparison::hosts);
        column(Separate(), "different", &Comparison::different);
        column(Separate(), "threshold", &Comparison::threshold);
        column(Separate(), "warnings", &Comparison::warnings);
        column(Separate(), "rows", &Comparison::deviations);
        column(Separate(), "factors", [](const Comparison& row) {
            return Factors{sentence_of(row.factors), row.factors.contrasts};
        });
    }
};

/// "ip-tcp p50 +752 %".
std::string short_text(const study::Deviation& deviation);

/// Compares the members at these percentiles; differences up to the threshold do not stand out.
void compare_members(Comparison& comparison, std::vector<table::Percentile> percentiles, double threshold);

/// The sentences, the rows that stand out and the next ones up to `rows`, and what the signs mean.
void write_text(std::ostream& out, const Comparison& comparison, std::size_t rows, const base::Screen& screen = {});
/// All rows: "stapgen.fleet-compare/1".
void write_json(std::ostream& out, const Comparison& comparison);
/// The same in one table: hosts, then kernels and labels.
void write_csv(std::ostream& out, const Comparison& comparison);

}  // namespace stapgen::fleet
