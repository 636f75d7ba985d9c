// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "kinds/calls/calls.h"

namespace stapgen::kinds::calls {

void put_results(const Measured& measured, const Asked& /*asked*/, rows::Results& results) {
    const auto& calls = results.of<rows::Call>() = measured.of<rows::Call>();
    auto& left_out = results.one<rows::CallsLeftOut>().calls_left_out;
    if (calls.is_there || !calls.empty()) left_out = calls.left_out;
    if (calls.left_out > 0)
        results.sentences.calls_left_out =
            fmt::format("{} more calls are not shown; the tables count them", calls.left_out);
}

}  // namespace stapgen::kinds::calls
