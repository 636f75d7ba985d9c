#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "analyze/outliers.h"

/// Which host is different: in a sentence, a table, or JSON.
namespace stapgen::fleet {

struct Comparison {
    std::string recipe;
    std::vector<analyze::Member> members;
    std::vector<analyze::Deviation> deviations;
    double threshold = 0;
    std::vector<std::string> warnings;

    [[nodiscard]] std::size_t different() const;  ///< hosts that stand out
};

/// Without a full stop: "web17 is different: tcp-app p99 +340 % [+210 %, +520 %], from 1.20 ms to 5.28 ms; none of the
/// 39 others is"; what cannot be told is said.
std::string sentence_of(const Comparison& comparison);

/// The sentence, the rows that stand out and the next ones up to `rows`, and what the signs mean.
void write_text(std::ostream& out, const Comparison& comparison, std::size_t rows);
/// All rows: "stapgen.fleet-compare/1".
void write_json(std::ostream& out, const Comparison& comparison);

}  // namespace stapgen::fleet
