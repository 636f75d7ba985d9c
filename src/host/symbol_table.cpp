// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "base/source.h"
#include "base/text.h"
#include "host/facts.h"
#include "host/workarounds.h"

namespace stapgen::host {

namespace fs = std::filesystem;

namespace {

/// Splits into exactly address, type and name; a fourth field is a module's name.
struct SymbolLine {
    std::string_view address, type, name;
    static std::optional<SymbolLine> of(std::string_view line) {
        const auto fields = base::words(line);
        if (fields.size() != 3 || fields[1].size() != 1) return std::nullopt;
        return SymbolLine{fields[0], fields[1], fields[2]};
    }
};

template <class Function>
void each_line(std::string_view text, Function function) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        if (!function(text.substr(0, end))) return;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// The folder with our table in it, named after its content so that it is written once.
base::Result<fs::path> write_table(const std::string& release, const std::string& map, const fs::path& cache,
                                   Making making) {
    auto folder = base::cache_entry(cache, "boot-" + release, map);
    if (making == Making::planned) return folder;
    const auto write = [&](const fs::path& fresh) { return base::create_file(fresh / ("System.map-" + release), map); };
    return base::make_cache_entry(folder, write).map([&] { return std::move(folder); });
}

}  // namespace

std::string system_map_from(std::string_view kallsyms) {
    std::string map;
    map.reserve(kallsyms.size() / 2);
    each_line(kallsyms, [&](std::string_view line) {
        const auto symbol = SymbolLine::of(line);
        if (!symbol || std::string_view("TtWw").find(symbol->type) == std::string_view::npos) return true;
        // stap takes T and t only, but a weak function can be probed as well as another.
        const char type = symbol->type == "W" ? 'T' : symbol->type == "w" ? 't' : symbol->type.front();
        map.append(symbol->address).append({' ', type, ' '}).append(symbol->name).append(1, '\n');
        return true;
    });
    return map;
}

bool names_functions(std::string_view system_map) {
    bool found = false;
    each_line(system_map, [&](std::string_view line) {
        const auto symbol = SymbolLine::of(line);
        found = symbol && (symbol->type == "T" || symbol->type == "t");
        return !found;
    });
    return found;
}

base::Result<std::optional<ProcessWorkaround>> provide_symbol_table(const System& system, const Target& target,
                                                                    const std::optional<fs::path>& symbols,
                                                                    const fs::path& cache, Making making) {
    const bool needed = target.symbol_table.state != SymbolTableState::usable || symbols;
    if (!needed || target.release.empty()) return std::nullopt;
    std::string text;
    std::string origin = kallsyms_file;
    if (symbols) {
        STAPGEN_LET(auto content, base::read_unpacked(*symbols, base::limits::kernel_text_bytes));
        text = std::move(content);
        origin = symbols->string();
    } else if (target.running) {
        text = system.read(kallsyms_file).value_or("");
    }
    const auto map = system_map_from(text);
    if (map.empty() && symbols) {
        return base::bad_input(fmt::format("{} names no kernel function", origin),
                               "give the text of /proc/kallsyms or a System.map of kernel " + target.release);
    }
    if (map.empty()) return std::nullopt;
    STAPGEN_LET(auto folder, write_table(target.release, map, cache, making));

    ProcessWorkaround workaround;
    const auto name = "System.map-" + target.release;
    const bool there = target.symbol_table.state != SymbolTableState::missing;
    const bool stub = target.symbol_table.state == SymbolTableState::stub;
    workaround.mounts = {there ? BindMount{folder / name, target.symbol_table.path} : BindMount{folder, "/boot"}};
    workaround.line =
        fmt::format("workaround: symbol-table: {}; stap gets the function names from {} instead (seen by stap alone)",
                    stub    ? target.symbol_table.path.string() + " is a stub without functions"
                    : there ? target.symbol_table.path.string() + " is for another kernel"
                            : "/boot has no " + name,
                    origin);
    return workaround;
}

}  // namespace stapgen::host
