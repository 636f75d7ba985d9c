// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/measured.h"

#include <utility>

#include "recording/identity.h"

namespace stapgen::kinds {

bool Run::is_whole() const {
    return broke_off.empty() && accounting.closed && accounting.lost_total() == 0 && accounting.unaccounted() == 0 &&
           accounting.below_zero() == 0 && transport.skipped_probes == 0 && transport.probe_errors == 0 &&
           transport.transport_failures == 0;
}

std::string merge_conflict_of(const Run& run, const Run& other) {
    const auto origin_of = [](const Run& of) { return of.origins.empty() ? Origin() : of.origins.front(); };
    return recording::unlike_text(origin_of(run), origin_of(other));
}

}  // namespace stapgen::kinds
