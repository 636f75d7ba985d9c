#pragma once

#include <memory>

#include "decode/importer.h"

namespace stapgen::decode {

// Each is in the file of its name, which says how its text looks.
std::unique_ptr<Importer> make_bpftrace_stacks();
std::unique_ptr<Importer> make_counter_samples();
std::unique_ptr<Importer> make_dropwatch_script();
std::unique_ptr<Importer> make_dropwatch_tool();
std::unique_ptr<Importer> make_net_events();
std::unique_ptr<Importer> make_netdev_times();
std::unique_ptr<Importer> make_pwru();
std::unique_ptr<Importer> make_skb_drops();
std::unique_ptr<Importer> make_stage_timing();
std::unique_ptr<Importer> make_tcpdrop();
std::unique_ptr<Importer> make_tracker();

/// Every foreign format. A line is offered to the last one first, as far as no other is at work.
inline constexpr std::unique_ptr<Importer> (*importers[])(){
    make_pwru,         make_tcpdrop,    make_bpftrace_stacks,  make_counter_samples,
    make_stage_timing, make_tracker,    make_dropwatch_script, make_dropwatch_tool,
    make_skb_drops,    make_net_events, make_netdev_times};

}  // namespace stapgen::decode
