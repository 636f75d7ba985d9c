// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rows/results.h"

/// What readers of packets waited for, as --who says it.
namespace stapgen::study {

struct Whom {
    std::string waited;  ///< "run-queue", "throttled", "asleep", "stopped", "frozen"
    std::string by;      ///< a thread, a softirq, an interrupt; a cgroup; the function in which it slept
    double share = 0;    ///< of the readers' time of that kind while packets lay ready, 0 to 1
};

/// What readers waited for most while packets lay ready, of the time that a part is about: of "tcp-app.run-queue" all
/// in which they could run, of "tcp-app.asleep" that in which they slept. Nothing: it is no such part, the results do
/// not say it, or the largest has below 5 %.
std::optional<Whom> whom_of(const rows::Results& results, std::string_view part);
/// "; 93 % of the readers' wait was behind spin[77]".
std::string whom_sentence(const Whom& whom);

/// "behind spin[77]": if the readers of all these records waited longest for that, and it is of what the part is about;
/// else empty.
std::string whom_of_all(const std::vector<const table::Group*>& records, std::string_view part);

}  // namespace stapgen::study
