#include "overhead/budget.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "base/units.h"

namespace stapgen::overhead {

base::Result<double> parse_budget(std::string_view typed) {
    const auto share = base::parse_percent(typed);
    if (share && *share > 0 && *share <= 0.5) return *share;
    return base::bad_input(fmt::format("--budget {}: not a percentage above 0 and up to 50", base::printable(typed)),
                           "for example --budget 5%: no CPU spends more of its time in the probes");
}

std::vector<std::string> guard_macros(double budget) {
    // The runtime prints them as long long.
    return {fmt::format("STP_OVERLOAD_INTERVAL={}LL", guard_cycles),
            fmt::format("STP_OVERLOAD_THRESHOLD={}LL", std::llround(budget * static_cast<double>(guard_cycles)))};
}

BudgetPlan plan_sample(std::int64_t one_in, const ExpectedCost& expected) {
    const double sampled = expected.hit.sampled;
    return {one_in, expected.of_busiest() * (1 - sampled + sampled / static_cast<double>(one_in))};
}

BudgetPlan plan_budget(double budget, const ExpectedCost& expected) {
    // Beyond it less than a sixteenth of what can be spared at all is won.
    constexpr std::int64_t last = 16;
    const bool can_sample = expected.hit.sampled > 0;
    auto plan = plan_sample(1, expected);
    while (can_sample && plan.of_busiest > budget && plan.one_in < last)
        plan = plan_sample(plan.one_in * 2, expected);
    return plan;
}

std::string sentence_of(const ExpectedCost& expected, const BudgetPlan& plan, std::optional<double> budget) {
    auto text = sentence_of(expected);
    if (plan.one_in > 1) {
        text += fmt::format("; 1 in {} sockets is measured, {} of the busiest CPU then", plan.one_in,
                            percent(plan.of_busiest));
    }
    if (budget && plan.of_busiest > *budget) {
        text +=
            fmt::format("; that is over the budget of {}, and the run will end where it is: narrow what is measured",
                        percent(*budget));
    }
    return text;
}

}  // namespace stapgen::overhead
