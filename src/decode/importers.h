// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "decode/importer.h"

namespace stapgen::decode {

using MakeImporter = std::unique_ptr<Importer> (*)();
template <class T>
std::unique_ptr<Importer> make_importer() {
    return std::make_unique<T>();
}

// Each is in the file of its name, which says how its text looks.
extern const MakeImporter make_bpftrace_stacks, make_counter_samples, make_dropwatch_script, make_dropwatch_tool,
    make_net_events, make_netdev_times, make_nettrace, make_pwru, make_skb_drops, make_stage_timing, make_tracker;

/// Every foreign format but drop_formats(), which come before them. A line is offered to the last one first, as far as
/// no other is at work.
inline constexpr const MakeImporter* importers[]{&make_nettrace,         &make_pwru,           &make_bpftrace_stacks,
                                                 &make_counter_samples,  &make_stage_timing,   &make_tracker,
                                                 &make_dropwatch_script, &make_dropwatch_tool, &make_skb_drops,
                                                 &make_net_events,       &make_netdev_times};

}  // namespace stapgen::decode
