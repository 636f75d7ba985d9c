// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/kaslr_offset.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "kaslr_trials.h"
#include "table_of.h"

using namespace stapgen;
using namespace stapgen::symbols;

namespace {

std::string data_file(const std::string& name) {
    auto text = base::read_file(TEST_DATA "/" + name);
    REQUIRE(text);
    return std::move(*text);
}

KnownKernel debian(const std::string& release) {
    KnownKernel kernel{table_of(data_file("drop-map-" + release)), Architecture::x86_64, {}};
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

/// Sites to be compared with exactly: code that calls sk_skb_reason_drop() before each of the kernel's real sites (but
/// those so near to another that no call fits between them, which are taken out).
DropSites exact_sites(KnownKernel& kernel) {
    const auto begin = *kernel.table.markers().stext;
    const auto target = kernel.table.addresses_of("sk_skb_reason_drop").at(0);
    std::vector<std::uint64_t> kept;
    std::string code(*kernel.table.markers().etext - begin, '\0');
    for (const auto site : kernel.sites) {
        if (!kept.empty() && site - kept.back() < 5) continue;
        kept.push_back(site);
        const auto relative = static_cast<std::uint32_t>(target - site);
        const auto place = site - begin - 5;
        code[place] = '\xe8';
        for (unsigned i = 0; i < 4; ++i)
            code[place + 1 + i] = static_cast<char>(relative >> (8 * i) & 0xffU);
    }
    kernel.sites = kept;
    const CodeRange range{begin, std::as_bytes(std::span(code)), false};
    return DropSites::from_code(std::span(&range, 1), Architecture::x86_64, kernel.table);
}

constexpr std::uint64_t kaslr_offset_of_a_boot = 0x1d600000;

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

TEST_CASE("from the code, one drop says what the KASLR offset is") {
    auto kernel = debian("6.12.117");
    const auto sites = exact_sites(kernel);
    REQUIRE(sites.exact());
    const auto log = return_addresses(kernel, {"icmp_rcv"}, kaslr_offset_of_a_boot);
    const auto finding = infer_kaslr_offset(log, sites, kernel.table, Architecture::x86_64, false);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    CHECK(*finding.kaslr_offset == kaslr_offset_of_a_boot);
    CHECK(finding.candidates == std::vector<std::int64_t>{kaslr_offset_of_a_boot});
    CHECK(finding.candidate_count == 1);
    CHECK(finding.exact);
    CHECK(finding.sites == sites.size());
    CHECK(finding.possible == 8);  // 16 MiB of text in steps of 2 MiB
    CHECK(finding.addresses == 1);
    CHECK(finding.in_modules == 0);
    CHECK(finding.expected_by_chance < 0.001);
    CHECK(finding.explanation.find("0x1d600000") != std::string::npos);
}

TEST_CASE("from names, one drop is refused and several functions say what the KASLR offset is") {
    const auto kernel = debian("7.2.12");
    const auto sites = DropSites::from_names(kernel.table);
    const auto one = return_addresses(kernel, {"icmp_rcv"}, kaslr_offset_of_a_boot);
    const auto refused = infer_kaslr_offset(one, sites, kernel.table, Architecture::x86_64, false);
    CHECK_FALSE(refused.kaslr_offset);
    CHECK(std::ranges::find(refused.candidates, kaslr_offset_of_a_boot) != refused.candidates.end());
    CHECK(refused.expected_by_chance > 0.001);

    auto log = return_addresses(kernel,
                                {"icmp_rcv", "tcp_v4_rcv", "unix_stream_read_generic", "ip_rcv_core", "nf_hook_slow",
                                 "tcp_data_queue", "tcp_v6_rcv", "igmp_rcv", "arp_process", "packet_rcv"},
                                kaslr_offset_of_a_boot);
    const auto nine = infer_kaslr_offset(std::span(log).first(9), sites, kernel.table, Architecture::x86_64, false);
    CHECK_FALSE(nine.kaslr_offset);
    CHECK(nine.candidates == std::vector<std::int64_t>{kaslr_offset_of_a_boot});
    CHECK(nine.expected_by_chance < 0.001);
    CHECK(nine.explanation.find("fewer than 10 addresses can also fit the map of a neighbouring build") !=
          std::string::npos);

    log.insert(log.end(), {0xffffffffc07b2b1c, 0xffffffffc07b2b1c, log.front()});
    const auto found = infer_kaslr_offset(log, sites, kernel.table, Architecture::x86_64, false);
    REQUIRE_MESSAGE(found.kaslr_offset, found.explanation);
    CHECK(*found.kaslr_offset == kaslr_offset_of_a_boot);
    CHECK(found.addresses == 10);
    CHECK(found.in_modules == 1);
    CHECK_FALSE(found.exact);
}

TEST_CASE("the drops of a real log are found at the functions that its traffic was made for") {
    // samples/dropwatch-2020-bare.txt, of a boot with KASLR: samples/README.md has what was dropped where.
    auto kernel = debian("6.12.117");
    const std::vector<std::uint64_t> log{0xffffffffb594ca75, 0xffffffffb594ae2a, 0xffffffffb593a20a, 0xffffffffc07b2b1c,
                                         0xffffffffc07344fe};
    const auto finding = infer_kaslr_offset(log, exact_sites(kernel), kernel.table, Architecture::x86_64, false);
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
    const auto finding =
        infer_kaslr_offset(log, DropSites::from_names(kernel.table), kernel.table, Architecture::x86_64, false);
    CHECK_FALSE(finding.kaslr_offset);
    CHECK(finding.expected_by_chance > 0.001);
}

TEST_CASE("a kernel known to be the one of the log needs no more than to be the only one") {
    auto kernel = debian("6.12.117");
    const auto names = DropSites::from_names(kernel.table);
    int only_known = 0, both = 0;
    for (const auto site : kernel.sites) {
        const std::vector<std::uint64_t> log{site + kaslr_offset_of_a_boot};
        const auto known = infer_kaslr_offset(log, names, kernel.table, Architecture::x86_64, true);
        const auto unknown = infer_kaslr_offset(log, names, kernel.table, Architecture::x86_64, false);
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
    const auto sites = exact_sites(kernel);
    std::string slid;
    const auto text = data_file("drop-map-6.12.117");
    for (const auto line : base::split(base::trim(text), '\n')) {
        const auto address = base::to_unsigned(line.substr(0, 16), 16).value() + 0x2ae00000;
        for (int shift = 60; shift >= 0; shift -= 4)
            slid += "0123456789abcdef"[address >> static_cast<unsigned>(shift) & 15U];
        slid += std::string(line.substr(16)) + "\n";
    }
    const auto table = table_of(slid);
    const auto log =
        return_addresses(kernel,
                         {"icmp_rcv", "tcp_v4_rcv", "unix_stream_read_generic", "ip_rcv_core", "nf_hook_slow",
                          "tcp_data_queue", "tcp_v6_rcv", "igmp_rcv", "arp_process", "packet_rcv"},
                         0x00a00000);
    const auto finding = infer_kaslr_offset(log, DropSites::from_names(table), table, Architecture::x86_64, false);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    CHECK(*finding.kaslr_offset == 0x00a00000 - 0x2ae00000);
    CHECK(finding.explanation.find("-0x2a400000") != std::string::npos);
}

TEST_CASE("a KASLR offset that the architecture cannot choose is no answer") {
    auto kernel = debian("6.12.117");
    const auto sites = exact_sites(kernel);
    for (const std::uint64_t kaslr_offset :
         {std::uint64_t{0x1d600010}, std::uint64_t{0x1d700000}, ~std::uint64_t{0x1fffff}}) {
        const auto log = return_addresses(kernel, {"icmp_rcv", "tcp_v4_rcv"}, kaslr_offset);
        const auto finding = infer_kaslr_offset(log, sites, kernel.table, Architecture::x86_64, true);
        CHECK_FALSE(finding.kaslr_offset);
        CHECK(finding.candidate_count == 0);
    }
}

TEST_CASE("an address of the kernel that is no drop site refuses the KASLR offset") {
    auto kernel = debian("6.12.117");
    const auto sites = exact_sites(kernel);
    auto log = return_addresses(kernel, {"icmp_rcv", "tcp_v4_rcv", "ip_rcv_core"}, kaslr_offset_of_a_boot);
    log.push_back(log.front() + 1);
    const auto finding = infer_kaslr_offset(log, sites, kernel.table, Architecture::x86_64, true);
    CHECK_FALSE(finding.kaslr_offset);
    CHECK(finding.candidate_count == 0);
    CHECK(finding.addresses == 4);
}

TEST_CASE("without KASLR modules begin where a slid kernel could be") {
    auto kernel = debian("6.12.117");
    const auto sites = exact_sites(kernel);
    auto log = return_addresses(kernel, {"icmp_rcv", "tcp_v4_rcv"}, 0);
    log.push_back(0xffffffffa07b2b1c);
    const auto finding = infer_kaslr_offset(log, sites, kernel.table, Architecture::x86_64, false);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    CHECK(*finding.kaslr_offset == 0);
    CHECK(finding.addresses == 2);
    CHECK(finding.in_modules == 1);
}

TEST_CASE("a log without drops in the kernel itself is refused") {
    const auto kernel = debian("6.12.117");
    const auto sites = DropSites::from_names(kernel.table);
    for (const auto& log :
         {std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{0, 0x401000, 0xffffffffc07b2b1c}}) {
        const auto finding = infer_kaslr_offset(log, sites, kernel.table, Architecture::x86_64, true);
        CHECK_FALSE(finding.kaslr_offset);
        CHECK(finding.addresses == 0);
        CHECK(finding.in_modules == log.size());
        CHECK(finding.explanation.find("no drop of the log") != std::string::npos);
    }
    CHECK_FALSE(infer_kaslr_offset({}, sites, kernel.table, Architecture::other, true).kaslr_offset);
}

TEST_CASE("the KASLR offset is found or refused and never wrong, on kernels whose functions are half unknown") {
    // Each kernel by the other's functions, so that many a log has a drop in a function that is not in the list.
    auto older = debian("6.12.117");
    auto newer = debian("7.2.12");
    for (auto* kernel : {&older, &newer}) {
        const auto names = names_of(kernel == &older ? newer : older);
        const auto by_names = DropSites::from_names(kernel->table, names);
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

TEST_CASE("the KASLR offset is found by each drop, by the code of the same kernel") {
    auto kernel = debian("7.2.12");
    const auto sites = exact_sites(kernel);
    for (const std::size_t count : {1U, 2U, 5U, 13U}) {
        const auto tally = try_kaslr_offsets(kernel, kernel.sites, sites, count, 200);
        CHECK(tally.wrong == 0);
        CHECK(tally.found >= 198);
    }
}

TEST_CASE("arm64: what a KASLR offset puts outside the text is a module's, and offsets are multiples of 64 KiB") {
    std::string code(0x400000, '\0');
    KnownKernel kernel{table_of("ffff800080010000 T _stext\nffff800080010000 T kfree_skb\nffff800080410000 D _etext\n"),
                       Architecture::arm64,
                       {}};
    CHECK(architecture_of(kernel.table) == Architecture::arm64);
    constexpr std::uint64_t begin = 0xffff800080010000;
    std::mt19937_64 random(7);
    for (int i = 0; i < 700; ++i) {
        const auto place = random() % 0x100000 * 4;
        const auto words = static_cast<std::uint32_t>(-static_cast<std::int64_t>(place) / 4) & 0x03ffffffU;
        const auto bl = 0x94000000U | words;
        for (unsigned byte = 0; byte < 4; ++byte)
            code[place + byte] = static_cast<char>(bl >> (8 * byte) & 0xffU);
        kernel.sites.push_back(begin + place + 4);
    }
    std::ranges::sort(kernel.sites);
    kernel.sites.erase(std::unique(kernel.sites.begin(), kernel.sites.end()), kernel.sites.end());
    const CodeRange range{begin, std::as_bytes(std::span(code)), false};
    const auto sites = DropSites::from_code(std::span(&range, 1), Architecture::arm64, kernel.table);
    CHECK(sites.size() == kernel.sites.size());

    const std::uint64_t kaslr_offset = 0x2f3c6a5b0000;
    const std::vector<std::uint64_t> log{kernel.sites[13] + kaslr_offset, kernel.sites[599] + kaslr_offset,
                                         begin + kaslr_offset - 0x3f1234, begin + kaslr_offset + 0x41000000};
    const auto finding = infer_kaslr_offset(log, sites, kernel.table, Architecture::arm64, false);
    REQUIRE_MESSAGE(finding.kaslr_offset, finding.explanation);
    CHECK(*finding.kaslr_offset == static_cast<std::int64_t>(kaslr_offset));
    CHECK(finding.addresses == 2);
    CHECK(finding.in_modules == 2);
    CHECK(finding.possible == 64);  // 4 MiB of text in steps of 64 KiB
    const auto one = infer_kaslr_offset(std::span(log).first(1), sites, kernel.table, Architecture::arm64, false);
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
    for (const auto architecture : {Architecture::x86_64, Architecture::arm64}) {
        CHECK_FALSE(infer_kaslr_offset(log, DropSites::from_names(table), table, architecture, false).kaslr_offset);
    }
}
