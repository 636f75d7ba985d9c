#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "symbols/live.h"
#include "symbols/resolve.h"

namespace stapgen::cli {

namespace {

struct ResolveOptions {
    std::string map, slide;
    std::vector<std::string> addresses;
    bool return_addresses = false, json = false;
};

nlohmann::ordered_json json_of(const symbols::ResolvedAddress& resolved) {
    nlohmann::ordered_json out{{"address", fmt::format("0x{:x}", resolved.address)},
                               {"symbol", nullptr},
                               {"offset", nullptr},
                               {"size", nullptr},
                               {"module", nullptr}};
    if (const auto& symbol = resolved.symbol) {
        out["symbol"] = symbol->name;
        out["offset"] = symbol->offset;
        out["size"] = symbol->size;
        if (symbol->module) out["module"] = *symbol->module;
    }
    return out;
}

base::Result<void> resolve(const ResolveOptions& options) {
    auto table = options.map.empty() ? symbols::read_live_symbols() : symbols::read_symbol_file(options.map);
    if (!table) {
        auto error = table.error();
        if (!options.map.empty()) error.kind = base::ErrorKind::bad_input;
        return tl::make_unexpected(error);
    }
    symbols::Lookup lookup;
    if (options.return_addresses) lookup.kind = symbols::AddressKind::return_address;
    if (!options.slide.empty()) {
        const auto digits = std::string_view(options.slide).substr(options.slide.starts_with("0x") ? 2 : 0);
        const auto slide = base::to_unsigned(digits, 16);
        if (!slide) {
            return base::bad_input(fmt::format("--slide '{}' is not a hex number", base::printable(options.slide)),
                                   "it is _stext in /proc/kallsyms less _stext in the map, for example 0x1c000000");
        }
        lookup.slide = static_cast<std::int64_t>(*slide);
    }
    base::Result<void> first_error;
    const auto show = [&](std::string_view word) {
        auto resolved = symbols::resolve_address(*table, word, lookup);
        if (!resolved) {
            show_error(resolved.error());
            if (first_error) first_error = base::bad_input("not everything was an address");
            return;
        }
        if (options.json) {
            std::cout << json_of(*resolved).dump() << '\n';
        } else {
            std::cout << fmt::format("{:016x} {}\n", resolved->address, symbols::to_string(*resolved));
        }
    };
    for (const auto& word : options.addresses)
        show(word);
    if (options.addresses.empty()) {
        for (std::string line; std::cout && std::getline(std::cin, line);) {
            for (const auto word : base::words(base::trim(line)))
                show(word);
            std::cout.flush();
        }
    }
    return first_error;
}

}  // namespace

void add_resolve_command(CLI::App& app, Action& action) {
    auto options = std::make_shared<ResolveOptions>();
    auto* command = app.add_subcommand("resolve", "Kernel addresses to names: name+0xoffset/0xsize [module]");
    command->add_option("addresses", options->addresses, "Hex, with or without 0x; none: read them from stdin");
    command->add_option("--map", options->map, "System.map or a saved /proc/kallsyms (default: this machine's kernel)");
    command->add_option("--slide", options->slide, "What KASLR added to the map's addresses, hex");
    command->add_flag("--return-addresses", options->return_addresses,
                      "They are return addresses (drop places, backtraces): look one byte before");
    command->add_flag("-j,--json", options->json, "One JSON object a line");
    command->footer("Example:\n  stapgen resolve --map System.map 0xffffffff8149a8ed");
    command->callback([&action, options] { action = [options] { return resolve(*options); }; });
}

}  // namespace stapgen::cli
