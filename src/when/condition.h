// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"

/// Conditions of --when, and whether they hold.
namespace stapgen::when {

enum class Statistic {
    percentile,  ///< of a stage, a part or a value, of the records of the window
    maximum,
    rise,  ///< of a count, within the window
};

/// "tcp-app.run-queue p99 > 5ms over 1s", "lost rise > 0": SUBJECT STATISTIC > VALUE [over WINDOW].
struct Condition {
    std::string subject;  ///< a stage, part or value, a count of the account, or the tag of records that are counts
    Statistic statistic = Statistic::percentile;
    double percent = 0;        ///< of a percentile
    std::int64_t above = 0;    ///< ns, or a number
    bool is_duration = false;  ///< `above` was typed with a unit
    std::chrono::nanoseconds window = std::chrono::seconds(1);

    /// As it is typed, with its window.
    [[nodiscard]] std::string text() const;
    /// A value of it for a person: "8.12 ms", "17".
    [[nodiscard]] std::string value_text(std::int64_t value) const;
};

inline constexpr std::chrono::nanoseconds longest_window = std::chrono::minutes(10);

/// Errors name the column of the first word that is wrong, and what could be there.
base::Result<Condition> parse_condition(std::string_view text);

/// Fails where records with this header, or their account, do not have the subject, or its value has a unit that it
/// cannot have. `kinds`: further kinds of records that count, which the header does not have yet. `reasons`: the names
/// of drop reasons; empty: not known.
base::Result<void> check_condition(const Condition& condition, const schema::Header& header,
                                   const std::vector<std::string>& kinds = {},
                                   const std::map<std::int64_t, std::string>& reasons = {});

}  // namespace stapgen::when
