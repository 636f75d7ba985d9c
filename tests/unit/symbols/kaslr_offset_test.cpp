// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/kaslr_offset.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "table_of.h"

using namespace stapgen;
using namespace stapgen::symbols;

namespace {

/// A kernel whose drop sites are known.
struct KnownKernel {
    SymbolTable table;
    std::vector<std::uint64_t> sites;  ///< as in the table
};

struct Tally {
    int found = 0, refused = 0, wrong = 0;
};

/// The functions that drop in the logs of most machines.
std::vector<std::uint64_t> well_known_sites(const KnownKernel& kernel) {
    constexpr std::string_view names =
        "tcp_v4_rcv tcp_v6_rcv __udp4_lib_rcv __udp6_lib_rcv udp_rcv udpv6_rcv icmp_rcv icmpv6_rcv "
        "unix_stream_connect unix_dgram_sendmsg ip_rcv_core ip6_rcv_core nf_hook_slow tcp_data_queue "
        "tcp_rcv_established ip_forward neigh_invalidate skb_queue_purge_reason unix_release_sock "
        "__dev_queue_xmit unix_stream_read_generic __netif_receive_skb_core tcp_rcv_state_process "
        "tcp_v4_do_rcv ip_error udp_queue_rcv_one_skb sk_stream_kill_queues ip6_mc_input igmp_rcv arp_rcv "
        "arp_process";
    std::vector<std::uint64_t> chosen;
    for (const auto site : kernel.sites) {
        const auto symbol = kernel.table.find(site, {AddressKind::return_address, 0});
        if (symbol && base::contains_word(names, source_name(symbol->name))) chosen.push_back(site);
    }
    return chosen;
}

/// Draws `count` different sites and moves them as a boot would, with two drops in modules beside them; counts what
/// becomes of it.
Tally try_kaslr_offsets(const KnownKernel& kernel, const std::vector<std::uint64_t>& from,
                        const DropFunctions& functions, std::size_t count, int trials) {
    std::mt19937_64 random(7919 + count);
    Tally tally;
    for (int trial = 0; trial < trials; ++trial) {
        const std::uint64_t kaslr_offset = random() % 477 * 0x200000;  // 1 GiB less 16 MiB less an image of 54 MiB
        const auto module = 0xffffffffc0000000 + random() % 0x4000000;
        std::vector<std::uint64_t> log{module, module + 0x1234};
        std::vector<std::uint64_t> drawn;
        std::ranges::sample(from, std::back_inserter(drawn), static_cast<std::ptrdiff_t>(count), random);
        for (const auto site : drawn)
            log.push_back(site + kaslr_offset);
        const auto finding = infer_kaslr_offset(log, functions, kernel.table, false);
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

std::string data_file(const std::string& name) {
    auto text = base::read_file(TEST_DATA "/" + name);
    REQUIRE(text);
    return std::move(*text);
}

KnownKernel debian(const std::string& release) {
    KnownKernel kernel{table_of(data_file("drop-map-" + release)), {}};
    const auto text = data_file("drop-sites-" + release);
    for (const auto line : base::split(base::trim(text), '\n')) {
        kernel.sites.push_back(base::to_unsigned(line, 16).value());
    }
    return kernel;
}

/// The names of one kernel's functions with drop sites, and of no other kernel's.
std::vector<std::string_view> names_of(const KnownKernel& kernel) {
    std::set<std::string_view> names;
    for (const auto site : kernel.sites) {
        const auto symbol = kernel.table.find(site, {AddressKind::return_address, 0});
        if (symbol) names.insert(source_name(symbol->name));
    }
    return {names.begin(), names.end()};
}

constexpr std::uint64_t kaslr_offset_of_a_boot = 0x1d600000;

/// As many as a map alone needs.
constexpr std::initializer_list<const char*> ten_functions{"icmp_rcv",    "tcp_v4_rcv",   "unix_stream_read_generic",
                                                           "ip_rcv_core", "nf_hook_slow", "tcp_data_queue",
                                                           "tcp_v6_rcv",  "igmp_rcv",     "arp_process",
                                                           "packet_rcv"};

std::vector<std::uint64_t> return_addresses(const KnownKernel& kernel, std::initializer_list<const char*> names,
                                            std::uint64_t kaslr_offset) {
    std::vector<std::uint64_t> addresses;
    for (const auto* name : names) {
        const auto site = std::ranges::find_if(kernel.sites, [&](std::uint64_t address) {
            const auto symbol = kernel.table.find(address, {AddressKind::return_address, 0});
            return symbol && source_name(symbol->name) == name;
        });
        REQUIRE_MESSAGE(site != kernel.sites.end(), name);
        addresses.push_back(*site + kaslr_offset);
    }
    return addresses;
}

}  // namespace

TEST_CASE("one drop is refused and drops of ten functions say what the KASLR offset is") {
    const auto kernel = debian("7.2.12");
    const DropFunctions functions(kernel.table);
    const auto one = return_addresses(kernel, {"icmp_rcv"}, kaslr_offset_of_a_boot);
    const auto refused = infer_kaslr_offset(one, functions, kernel.table, false);
    CHECK_FALSE(refused.kaslr_offset);
    CHECK(std::ranges::find(refused.candidates, kaslr_offset_of_a_boot) != refused.candidates.end());
    CHECK(refused.expected_by_chance > 0.001);

    auto log = return_addresses(kernel, ten_functions, kaslr_offset_of_a_boot);
    const auto nine = infer_kaslr_offset(std::span(log).first(9), functions, kernel.table, false);
    CHECK_FALSE(nine.kaslr_offset);
    CHECK(nine.candidates == std::vector<std::int64_t>{kaslr_offset_of_a_boot});
    CHECK(nine.expected_by_chance < 0.001);
    CHECK(nine.explanation.find("fewer than 10 addresses can also fit the map of a neighbouring build") !=
          std::string::npos);

    log.insert(log.end(), {0xffffffffc07b2b1c, 0xffffffffc07b2b1c, log.front()});
    const auto found = infer_kaslr_offset(log, functions, kernel.table, false);
    REQUIRE_MESSAGE(found.kaslr_offset, found.explanation);
    CHECK(*found.kaslr_offset == kaslr_offset_of_a_boot);
    CHECK(found.addresses == 10);
    CHECK(found.in_modules == 1);
    CHECK(found.functions == functions.size());
    CHECK(found.explanation.find("0x1d600000") != std::string::npos);
}

TEST_CASE("the drops of a real log are found at the functions that its traffic was made for") {
    // samples/dropwatch-2020-bare.txt, of a boot with KASLR: samples/README.md has what was dropped where.
    auto kernel = debian("6.12.117");
    const std::vector<std::uint64_t> log{0xffffffffb594ca75, 0xffffffffb594ae2a, 0xffffffffb593a20a, 0xffffffffc07b2b1c,
                                         0xffffffffc07344fe};
    const auto finding = infer_kaslr_offset(log, DropFunctions(kernel.table), kernel.table, true);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    const Lookup lookup{AddressKind::return_address, *finding.kaslr_offset};
    CHECK(kernel.table.find(log[0], lookup)->name == "__udp4_lib_rcv");
    CHECK(kernel.table.find(log[1], lookup)->name == "udp_queue_rcv_one_skb");
    CHECK(kernel.table.find(log[2], lookup)->name == "tcp_v4_rcv");
    CHECK(finding.in_modules == 2);
    // Each of them is where the code says it is.
    for (int i = 0; i < 3; ++i) {
        CHECK(std::ranges::binary_search(
            kernel.sites, log[static_cast<std::size_t>(i)] - static_cast<std::uint64_t>(*finding.kaslr_offset)));
    }
}

TEST_CASE("many drops of one function are hardly more evidence than one of them") {
    const auto kernel = debian("7.2.12");
    std::vector<std::uint64_t> log;
    for (const auto site : kernel.sites) {
        const auto symbol = kernel.table.find(site, {AddressKind::return_address, 0});
        if (symbol && symbol->name == "tcp_data_queue") log.push_back(site + kaslr_offset_of_a_boot);
    }
    REQUIRE(log.size() >= 3);
    const auto finding = infer_kaslr_offset(log, DropFunctions(kernel.table), kernel.table, false);
    CHECK_FALSE(finding.kaslr_offset);
    CHECK(finding.expected_by_chance > 0.001);
}

TEST_CASE("a kernel known to be the one of the log needs no more than to be the only one") {
    auto kernel = debian("6.12.117");
    const DropFunctions functions(kernel.table);
    int only_known = 0, both = 0;
    for (const auto site : kernel.sites) {
        const std::vector<std::uint64_t> log{site + kaslr_offset_of_a_boot};
        const auto known = infer_kaslr_offset(log, functions, kernel.table, true);
        const auto unknown = infer_kaslr_offset(log, functions, kernel.table, false);
        if (known.kaslr_offset) CHECK(*known.kaslr_offset == kaslr_offset_of_a_boot);
        CHECK(known.kaslr_offset.has_value() == (known.candidate_count == 1));
        only_known += known.kaslr_offset && !unknown.kaslr_offset ? 1 : 0;
        both += unknown.kaslr_offset ? 1 : 0;
    }
    CHECK(only_known > 200);
    CHECK(both == 0);
}

TEST_CASE("a table of a boot that was slid itself gives the difference, which may be negative") {
    auto kernel = debian("6.12.117");
    const DropFunctions functions(kernel.table);
    std::string slid;
    const auto text = data_file("drop-map-6.12.117");
    for (const auto line : base::split(base::trim(text), '\n')) {
        const auto address = base::to_unsigned(line.substr(0, 16), 16).value() + 0x2ae00000;
        for (int shift = 60; shift >= 0; shift -= 4)
            slid += "0123456789abcdef"[address >> static_cast<unsigned>(shift) & 15U];
        slid += std::string(line.substr(16)) + "\n";
    }
    const auto table = table_of(slid);
    const auto log = return_addresses(kernel, ten_functions, 0x00a00000);
    const auto finding = infer_kaslr_offset(log, DropFunctions(table), table, false);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    CHECK(*finding.kaslr_offset == 0x00a00000 - 0x2ae00000);
    CHECK(finding.explanation.find("-0x2a400000") != std::string::npos);
}

TEST_CASE("a KASLR offset that the architecture cannot choose is no answer") {
    auto kernel = debian("6.12.117");
    const DropFunctions functions(kernel.table);
    for (const std::uint64_t kaslr_offset : {std::uint64_t{0x1d700000}, ~std::uint64_t{0x1fffff}}) {
        const auto log = return_addresses(kernel, ten_functions, kaslr_offset);
        const auto finding = infer_kaslr_offset(log, functions, kernel.table, true);
        CHECK_FALSE(finding.kaslr_offset);
        CHECK(finding.candidate_count == 0);
    }
}

TEST_CASE("an address of the kernel in no function that drops refuses the KASLR offset") {
    auto kernel = debian("6.12.117");
    const DropFunctions functions(kernel.table);
    auto log = return_addresses(kernel, ten_functions, kaslr_offset_of_a_boot);
    log.push_back(kernel.table.addresses_of("schedule").at(0) + 0x13 + kaslr_offset_of_a_boot);
    const auto finding = infer_kaslr_offset(log, functions, kernel.table, true);
    CHECK_FALSE(finding.kaslr_offset);
    CHECK(finding.candidate_count == 0);
    CHECK(finding.addresses == 11);
    // It is named with the offset that the others agree in.
    CHECK(finding.nearest == static_cast<std::int64_t>(kaslr_offset_of_a_boot));
    CHECK(finding.miss == log.back());
    log.push_back(kernel.table.addresses_of("vfs_read").at(0) + 0x13 + kaslr_offset_of_a_boot);
    CHECK_FALSE(infer_kaslr_offset(log, functions, kernel.table, true).nearest);
    log.pop_back();
    log.erase(log.begin());
    CHECK_FALSE(infer_kaslr_offset(log, functions, kernel.table, true).nearest);
}

TEST_CASE("without KASLR modules begin where a slid kernel could be") {
    auto kernel = debian("6.12.117");
    const DropFunctions functions(kernel.table);
    auto log = return_addresses(kernel, ten_functions, 0);
    log.push_back(0xffffffffa07b2b1c);
    const auto finding = infer_kaslr_offset(log, functions, kernel.table, false);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    CHECK(*finding.kaslr_offset == 0);
    CHECK(finding.addresses == 10);
    CHECK(finding.in_modules == 1);
}

TEST_CASE("a log without drops in the kernel itself is refused") {
    const auto kernel = debian("6.12.117");
    const DropFunctions functions(kernel.table);
    for (const auto& log :
         {std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{0, 0x401000, 0xffffffffc07b2b1c}}) {
        const auto finding = infer_kaslr_offset(log, functions, kernel.table, true);
        CHECK_FALSE(finding.kaslr_offset);
        CHECK(finding.addresses == 0);
        CHECK(finding.in_modules == (log.empty() ? 0 : 1));  // a hashed pointer and 0 are of nobody
        CHECK(finding.explanation.find("no drop of the log") != std::string::npos);
    }
    const auto other = table_of("c0008000 T _stext\nc0008000 t tcp_v4_rcv\nc0009000 T _etext\n");
    CHECK_FALSE(infer_kaslr_offset({}, DropFunctions(other), other, true).kaslr_offset);
}

TEST_CASE("the KASLR offset is found or refused and never wrong, on kernels whose functions are half unknown") {
    // Each kernel by the other's functions, so that many a log has a drop in a function that is not in the list.
    auto older = debian("6.12.117");
    auto newer = debian("7.2.12");
    for (auto* kernel : {&older, &newer}) {
        const auto names = names_of(kernel == &older ? newer : older);
        const DropFunctions by_names(kernel->table, names);
        const auto well_known = well_known_sites(*kernel);
        REQUIRE(well_known.size() > 50);
        int found = 0, refused = 0;
        for (const auto* from : {&std::as_const(kernel->sites), &well_known}) {
            for (const std::size_t count : {1U, 3U, 10U, 11U, 13U}) {
                const auto tally = try_kaslr_offsets(*kernel, *from, by_names, count, 200);
                CHECK(tally.wrong == 0);
                found += tally.found;
                refused += tally.refused;
            }
        }
        CHECK(found > 400);
        CHECK(refused > 400);
    }
}

TEST_CASE("arm64: what a KASLR offset puts outside the text is a module's, and offsets are multiples of 64 KiB") {
    // 4 MiB of text; of each 8 KiB a function of 128 bytes drops packets.
    constexpr std::uint64_t begin = 0xffff800080010000, end = begin + 0x400000, step = 0x2000, size = 0x80;
    std::mt19937_64 random(7);
    std::vector<std::uint64_t> starts;
    std::string map = fmt::format("{:x} T _stext\n", begin);
    for (auto block = begin; block < end; block += step) {
        starts.push_back(block + random() % (step - size) / 4 * 4);
        map += fmt::format("{:x} t tcp_v4_rcv\n{:x} t another\n", starts.back(), starts.back() + size);
    }
    const auto table = table_of(map + fmt::format("{:x} D _etext\n", end));
    CHECK(architecture_of(table) == Architecture::arm64);
    const DropFunctions functions(table);
    CHECK(functions.size() == starts.size());

    const std::uint64_t kaslr_offset = 0x2f3c6a5b0000;
    std::vector<std::uint64_t> log{begin + kaslr_offset - 0x3f1234, begin + kaslr_offset + 0x41000000};
    for (std::size_t i = 0; i < min_by_functions; ++i)
        log.push_back(starts[i * 50] + 0x14 + kaslr_offset);
    const auto finding = infer_kaslr_offset(log, functions, table, false);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    CHECK(*finding.kaslr_offset == static_cast<std::int64_t>(kaslr_offset));
    CHECK(finding.addresses == min_by_functions);
    CHECK(finding.in_modules == 2);
    CHECK(finding.possible == 64);  // 4 MiB of text in steps of 64 KiB
    const auto one = infer_kaslr_offset(std::span(log).last(1), functions, table, false);
    CHECK_FALSE(one.kaslr_offset);
    CHECK(one.expected_by_chance > 0.001);
}

TEST_CASE("which kernels are moved, and of which architecture they are, is in their table") {
    const auto x86 = debian("7.2.12");
    CHECK(has_kaslr(x86.table));
    CHECK(architecture_of(x86.table) == Architecture::x86_64);
    const auto old = table_of("ffffffff8149a420 t unix_dgram_poll\nffffffff8149a5e0 t unix_stream_recvmsg\n");
    CHECK_FALSE(has_kaslr(old));
    CHECK(architecture_of(old) == Architecture::x86_64);
    // Modules of arm64 can lie behind the kernel or before it.
    const auto arm64 = table_of(
        "ffff80007b000000 t module_function [some]\n"
        "ffff800080010000 T _stext\nffff800080010000 t something\nffff800080020000 D _etext\n");
    CHECK(architecture_of(arm64) == Architecture::arm64);
    CHECK_FALSE(has_kaslr(arm64));
    CHECK(has_kaslr(table_of("ffff800080010000 T _stext\nffff800080010000 T kaslr_init\n")));
    CHECK(architecture_of(table_of("c0008000 T _stext\nc0008000 t first\nc0009000 T _etext\n")) == Architecture::other);
}

TEST_CASE("a table and a log of nonsense are refused in bounded time") {
    std::string map;
    for (int i = 0; i < 3000; ++i) {
        const auto low = static_cast<unsigned>(i);
        map += "ffffffff8" + std::to_string(1000000 + low * 3) + " t tcp_v4_rcv\n";
    }
    map += "ffffffffffffffff t tcp_v4_rcv\n";
    const auto table = table_of(map);
    std::vector<std::uint64_t> log;
    for (std::uint64_t i = 0; i < 5000; ++i)
        log.push_back(i * 0x9e3779b97f4a7c15);
    log.insert(log.end(), {0, ~std::uint64_t{0}, std::uint64_t{1} << 63U, 0xffffffff80000000, 0xffffffffbfffffff});
    CHECK_FALSE(infer_kaslr_offset(log, DropFunctions(table), table, false).kaslr_offset);
}
