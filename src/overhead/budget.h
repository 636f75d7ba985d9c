#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "overhead/estimate.h"

namespace stapgen::overhead {

/// "5%" as 0.05: what no CPU may spend more of its time on than that. More than 0, up to 50 %, where SystemTap draws
/// the line anyway.
base::Result<double> parse_budget(std::string_view typed);

/// For stap's -D: SystemTap's own guard ends the run, in the kernel, where a CPU was over the budget for
/// `guard_cycles`.
std::vector<std::string> guard_macros(double budget);
inline constexpr std::int64_t guard_cycles = 3'000'000'000;  ///< about a second; of the counter of host::read_cycles()

/// How a run keeps to its budget.
struct BudgetPlan {
    std::int64_t one_in = 1;  ///< of the sockets is measured
    double of_busiest = 0;    ///< what is expected then
};

/// With a sample that the user chose.
BudgetPlan plan_sample(std::int64_t one_in, const ExpectedCost& expected);

/// The smallest sample whose expected cost is within the budget; where none is, the one beyond which little is won.
BudgetPlan plan_budget(double budget, const ExpectedCost& expected);

/// What the user should know of it, with or without a budget.
std::string sentence_of(const ExpectedCost& expected, const BudgetPlan& plan, std::optional<double> budget);

}  // namespace stapgen::overhead
