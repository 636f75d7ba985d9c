#include "symbols/live.h"

#include <fmt/format.h>

#include <utility>

#include "base/files.h"

namespace stapgen::symbols {

namespace {

base::Error about_this_machine(base::Error error) {
    error.kind = base::ErrorKind::cannot_here;
    return error;
}

}  // namespace

base::Result<SymbolTable> read_symbol_file(const std::filesystem::path& path) {
    return base::read_file(path).and_then(
        [&](std::string&& text) { return SymbolTable::parse(std::move(text), path.string()); });
}

base::Result<SymbolTable> read_live_symbols(const std::filesystem::path& path) {
    return read_symbol_file(path).map_error(about_this_machine);
}

base::Result<DropReasons> read_live_drop_reasons(const std::vector<std::filesystem::path>& paths) {
    std::string reasons;
    for (const auto& path : paths) {
        const auto text = base::read_file(path);
        if (text) return DropReasons::parse(*text).map_error(about_this_machine);
        reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", text.error().what);
    }
    return base::cannot_here(fmt::format("the names of this kernel's drop reasons cannot be read: {}", reasons),
                             "as root: mount -t tracefs tracefs /sys/kernel/tracing");
}

}  // namespace stapgen::symbols
