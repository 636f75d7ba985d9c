#pragma once

#include <string_view>

#include "analyze/summary.h"

namespace stapgen::report {

/// What is known of a drop by its place and reason: explained in docs/drops.md.
struct DropAdvice {
    bool benign = false;    ///< part of normal operation, no packet is lost by it
    std::string_view text;  ///< one line: what it means and where to look; empty: nothing known
};

DropAdvice advice_of(const analyze::Drop& drop);

}  // namespace stapgen::report
