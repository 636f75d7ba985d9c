// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

#include "symbols/kaslr/kaslr_offset.h"

namespace stapgen::symbols {

/// A kernel whose drop sites are known.
struct KnownKernel {
    SymbolTable table;
    Architecture architecture;
    std::vector<std::uint64_t> sites;  ///< as in the table
};

struct Tally {
    int found = 0, refused = 0, wrong = 0;
};

/// The functions that drop in the logs of most machines.
inline std::vector<std::uint64_t> well_known_sites(const KnownKernel& kernel) {
    constexpr auto names = std::to_array<std::string_view>({"tcp_v4_rcv",
                                                            "tcp_v6_rcv",
                                                            "__udp4_lib_rcv",
                                                            "__udp6_lib_rcv",
                                                            "udp_rcv",
                                                            "udpv6_rcv",
                                                            "icmp_rcv",
                                                            "icmpv6_rcv",
                                                            "unix_stream_connect",
                                                            "unix_dgram_sendmsg",
                                                            "ip_rcv_core",
                                                            "ip6_rcv_core",
                                                            "nf_hook_slow",
                                                            "tcp_data_queue",
                                                            "tcp_rcv_established",
                                                            "ip_forward",
                                                            "neigh_invalidate",
                                                            "skb_queue_purge_reason",
                                                            "unix_release_sock",
                                                            "__dev_queue_xmit",
                                                            "unix_stream_read_generic",
                                                            "__netif_receive_skb_core",
                                                            "tcp_rcv_state_process",
                                                            "tcp_v4_do_rcv",
                                                            "ip_error",
                                                            "udp_queue_rcv_one_skb",
                                                            "sk_stream_kill_queues",
                                                            "ip6_mc_input",
                                                            "igmp_rcv",
                                                            "arp_rcv",
                                                            "arp_process"});
    std::vector<std::uint64_t> chosen;
    for (const auto site : kernel.sites) {
        const auto symbol = kernel.table.find(site, {AddressKind::return_address, 0});
        if (symbol && std::ranges::find(names, source_name(symbol->name)) != names.end()) chosen.push_back(site);
    }
    return chosen;
}

/// Draws `count` different sites and moves them as a boot would, with two drops in modules beside them; counts what
/// becomes of it with `map`, to which `known` belongs.
inline Tally try_kaslr_offsets(const KnownKernel& kernel, const std::vector<std::uint64_t>& from,
                               const DropSites& known, const SymbolTable& map, std::size_t count, int trials,
                               bool same_build = false) {
    std::mt19937_64 random(7919 + count);
    Tally tally;
    for (int trial = 0; trial < trials; ++trial) {
        std::uint64_t kaslr_offset = 0;
        std::uint64_t module = 0;
        if (kernel.architecture == Architecture::x86_64) {
            kaslr_offset = random() % 477 * 0x200000;  // 1 GiB less 16 MiB less an image of 54 MiB
            module = 0xffffffffc0000000 + random() % 0x4000000;
        } else {
            kaslr_offset = (std::uint64_t{1} << 45U) + random() % (std::uint64_t{1} << 30U) * 0x10000;
            module = *kernel.table.markers().text + kaslr_offset - 0x80000000 + random() % 0x7f000000 / 4 * 4;
        }
        std::vector<std::uint64_t> log{module, module + 0x1234};
        std::vector<std::uint64_t> drawn;
        std::ranges::sample(from, std::back_inserter(drawn), static_cast<std::ptrdiff_t>(count), random);
        for (const auto site : drawn)
            log.push_back(site + kaslr_offset);
        const auto finding = infer_kaslr_offset(log, known, map, kernel.architecture, same_build);
        if (!finding.kaslr_offset) {
            ++tally.refused;
        } else if (*finding.kaslr_offset == static_cast<std::int64_t>(kaslr_offset)) {
            ++tally.found;
        } else {
            ++tally.wrong;
        }
    }
    return tally;
}

inline Tally try_kaslr_offsets(const KnownKernel& kernel, const std::vector<std::uint64_t>& from,
                               const DropSites& known, std::size_t count, int trials, bool same_build = false) {
    return try_kaslr_offsets(kernel, from, known, kernel.table, count, trials, same_build);
}

}  // namespace stapgen::symbols
