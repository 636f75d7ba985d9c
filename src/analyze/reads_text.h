// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "rows/results.h"

/// What explains times until packets are read: how much GRO merges, and how much a read takes.
namespace stapgen::analyze {

/// "GRO: 12.2 wire segments per packet, 24.1 per receive call (12,345 in 512 calls)"; empty where that was not counted,
/// or nothing was received.
std::string reads_text(const rows::Results& results);

}  // namespace stapgen::analyze
