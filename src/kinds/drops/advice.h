// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <span>
#include <string_view>

#include "table/keys.h"

namespace stapgen::kinds::drops {

/// What is known of a drop by its place and reason: stapgen help drop-reasons prints it.
struct DropAdvice {
    std::string_view reason{};    ///< of a function NOT_SPECIFIED stands also for drops without a reason
    std::string_view text{};      ///< one line: what it means and where to look; empty: nothing known
    std::string_view function{};  ///< it is about this function only; empty: about the reason, wherever it is given
    bool benign = false;          ///< part of normal operation, no packet is lost by it
};

/// By the function without what the compiler appends (".cold", ".isra.0") and the reason's name; what is known of the
/// two together comes first. A reason without a name could be any: then nothing is known.
DropAdvice advice_of(const table::Place& place, const table::Reason& reason);

/// All that is known, by function and reason: for `stapgen help drop-reasons` and for tests.
std::span<const DropAdvice> known_drops();

}  // namespace stapgen::kinds::drops
