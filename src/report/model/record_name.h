#pragma once

#include <string>
#include <string_view>

#include "analyze/group.h"

namespace stapgen::report {

/// What one record is of, for a person: "rx 10.0.0.2:4000 > 10.0.0.1:11211, 101 bytes, eth0, mc-worker/190, pid 186,
/// cpu 0". An arrow between the endpoints shows where the packets of the ways rx and tx go; without one the local
/// endpoint is the first. What is not known is left out, control characters are made visible.
std::string record_name(std::string_view direction, const analyze::Group& of);

}  // namespace stapgen::report
