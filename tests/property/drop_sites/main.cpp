// SPDX-License-Identifier: GPL-2.0-or-later
// Makes src/symbols/kaslr/drop_functions.txt and the data of the unit tests anew, and tries the inference of the KASLR
// offset on whole kernels. TEXT is section .text as `objcopy -O binary -j .text vmlinux TEXT` writes it, ADDRESS where
// it is linked.
//
//   drop_sites functions MAP TEXT ADDRESS              names of the functions that contain drop sites
//   drop_sites sites MAP TEXT ADDRESS                  the sites
//   drop_sites excerpt MAP TEXT ADDRESS                the lines of MAP that the sites and the known functions need
//   drop_sites simulate MAP TEXT ADDRESS TRIALS [NAMES]  how often the KASLR offset is found; NAMES: a list of
//   functions drop_sites foreign MAP TEXT ADDRESS TRIALS OTHER_MAP...  how often one is found with the maps of other
//   builds drop_sites names MAP TEXT ADDRESS LOGS OTHER_MAP...  how many names are right, by the map itself and by
//   those of other
//                                                        builds, or excerpts; in half of the logs some places have
//                                                        names
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <string>

#include "base/files.h"
#include "base/text.h"
#include "kaslr_trials.h"
#include "symbols/kernel_names.h"
#include "symbols/source_files.h"

namespace {

using namespace stapgen;
using namespace stapgen::symbols;

/// A site is looked up as the return address that it is; net_tx_action() gives its own.
Symbol function_of(const SymbolTable& table, std::uint64_t site) {
    const auto at = table.find(site);
    if (at && at->offset == 0) return *at;
    return table.find(site, {AddressKind::return_address, 0}).value_or(Symbol{});
}

void print_functions(const KnownKernel& kernel) {
    std::set<std::string> names;
    for (const auto site : kernel.sites) {
        const auto name = source_name(function_of(kernel.table, site).name);
        if (!name.empty() && !name.starts_with("__pfx_")) names.emplace(name);
    }
    for (const auto& name : names)
        fmt::print("{}\n", name);
}

void print_excerpt(const std::string& text, const KnownKernel& kernel) {
    std::set<std::string_view> names{
        "_text", "_stext", "_etext", "_sinittext", "_einittext", "dump_kernel_offset", "sk_skb_reason_drop"};
    names.insert(of_each_kernel.begin(), of_each_kernel.end());
    for (const auto site : kernel.sites)
        names.insert(function_of(kernel.table, site).name);
    std::set<std::uint64_t> addresses;  // of functions that are wanted, and of what follows them
    const auto known = DropSites::from_names(kernel.table);
    for (const auto& range : known.ranges())
        addresses.insert({range.begin, range.end});
    for (const auto site : kernel.sites) {
        const auto symbol = function_of(kernel.table, site);
        if (symbol.size != 0) addresses.insert({site - symbol.offset, site - symbol.offset + symbol.size});
    }
    for (const auto line : base::split(text, '\n')) {
        const auto words = base::words(line);
        if (words.size() != 3) continue;
        const auto address = base::to_unsigned(words[0], 16).value_or(0);
        if (names.contains(words[2]) || addresses.contains(address)) fmt::print("{}\n", line);
    }
}

void simulate(const KnownKernel& kernel, const DropSites& exact, const DropSites& names, int trials) {
    const auto well_known = well_known_sites(kernel);
    fmt::print("{} sites, {} of them well known; {} functions\n", kernel.sites.size(), well_known.size(), names.size());
    for (const auto* known : {&exact, &names}) {
        for (const auto* from : {&kernel.sites, &well_known}) {
            for (const std::size_t count : {1U, 2U, 3U, 5U, 10U, 13U, 16U}) {
                const auto tally = try_kaslr_offsets(kernel, *from, *known, count, trials);
                fmt::print("{} {} k={}: found {} refused {} wrong {}\n", known->exact() ? "code " : "names",
                           from == &well_known ? "well known" : "all       ", count, tally.found, tally.refused,
                           tally.wrong);
            }
        }
    }
}

std::string content(const char* path) {
    auto read = base::read_file(path);
    if (!read) fmt::print(stderr, "{}\n", read.error().what);
    return std::move(read).value_or("");
}

/// Every KASLR offset that is taken is a wrong one: that of the boot, too, as the map's functions lie elsewhere under
/// it.
void try_foreign(const KnownKernel& kernel, int trials, const char* other_map) {
    const auto other = SymbolTable::parse(content(other_map), other_map);
    if (!other) {
        fmt::print(stderr, "{}\n", other.error().what);
        return;
    }
    const auto names = DropSites::from_names(*other);
    const auto well_known = well_known_sites(kernel);
    for (const auto* from : {&kernel.sites, &well_known}) {
        for (const std::size_t count : {2U, 3U, 4U, 5U, 6U, 8U, 10U, 13U, 16U, 20U}) {
            const auto tally = try_kaslr_offsets(kernel, *from, names, *other, count, trials);
            fmt::print("{} {} k={}: of {} taken {} that of the boot, {} others\n", other_map,
                       from == &well_known ? "well known" : "all       ", count, trials, tally.found, tally.wrong);
        }
    }
}

struct NameTally {
    int right = 0, wrong = 0, none = 0, refused_maps = 0;
};

void name_one_log(const KnownKernel& kernel, const std::vector<std::uint64_t>& from, const char* map,
                  std::mt19937_64& random, NameTally& tally) {
    const std::uint64_t kaslr_offset = random() % 477 * 0x200000;
    std::vector<std::uint64_t> sites;
    std::ranges::sample(from, std::back_inserter(sites), static_cast<std::ptrdiff_t>(1 + random() % 13), random);
    std::ranges::shuffle(sites, random);
    const auto named = random() % 2 == 0 ? std::size_t{0} : random() % sites.size();
    std::vector<Witness> witnesses;
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        const auto truth = function_of(kernel.table, sites[i]);
        if (i < named && !truth.name.empty()) {
            witnesses.push_back({sites[i] + kaslr_offset, std::string(truth.name), truth.offset});
        } else {
            places.push_back(sites[i] + kaslr_offset);
        }
    }
    auto names = KernelNames::open({{map}, {}, {}, {}}, {});
    if (!names || !names->hear(witnesses)) {
        ++tally.refused_maps;
        tally.none += static_cast<int>(places.size());
        return;
    }
    if (!names->kaslr_offset_known()) (void)names->infer(places);
    for (const auto place : places) {
        const auto found = names->find(place, AddressKind::drop_site);
        const auto truth = kernel.table.find(place - kaslr_offset, {AddressKind::drop_site, 0});
        if (!found.symbol) {
            ++tally.none;
        } else if (truth && truth->name == found.symbol->name && truth->offset == found.symbol->offset) {
            ++tally.right;
        } else {
            ++tally.wrong;
        }
    }
}

void try_names(const KnownKernel& kernel, int logs, const char* map) {
    const auto well_known = well_known_sites(kernel);
    std::mt19937_64 random(7919);
    NameTally tally;
    for (int i = 0; i < logs; ++i)
        name_one_log(kernel, i % 2 == 0 ? kernel.sites : well_known, map, random, tally);
    fmt::print("{}: {} right, {} wrong, {} without a name; {} of {} logs refuse the map\n", map, tally.right,
               tally.wrong, tally.none, tally.refused_maps, logs);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const std::string what = argv[1];
    const auto map = content(argv[2]);
    const auto text = content(argv[3]);
    auto table = SymbolTable::parse(map);
    if (!table) return 2;
    const CodeRange code{base::to_unsigned(argv[4], 16).value_or(0), std::as_bytes(std::span(text)), false};
    const auto architecture = architecture_of(*table);
    const auto exact = DropSites::from_code(std::span(&code, 1), architecture, *table);
    KnownKernel kernel{std::move(*table), architecture, {}};
    for (const auto& range : exact.ranges())
        kernel.sites.push_back(range.begin);

    if (what == "functions") print_functions(kernel);
    if (what == "excerpt") print_excerpt(map, kernel);
    for (const auto site : what == "sites" ? kernel.sites : std::vector<std::uint64_t>())
        fmt::print("{:x}\n", site);
    for (int i = 6; what == "foreign" && i < argc; ++i)
        try_foreign(kernel, static_cast<int>(base::to_int(argv[5]).value_or(100)), argv[i]);
    for (int i = 6; what == "names" && i < argc; ++i)
        try_names(kernel, static_cast<int>(base::to_int(argv[5]).value_or(100)), argv[i]);
    if (what == "simulate" && argc > 5) {
        const auto list = argc > 6 ? content(argv[6]) : std::string();
        const auto names = base::split(base::trim(list), '\n');
        simulate(kernel, exact,
                 argc > 6 ? DropSites::from_names(kernel.table, names) : DropSites::from_names(kernel.table),
                 static_cast<int>(base::to_int(argv[5]).value_or(100)));
    }
}
