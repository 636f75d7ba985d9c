#include "symbols/live.h"

#include <fmt/format.h>

#include <span>
#include <string>
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
    return FileBytes::read(path).and_then(
        [&](FileBytes&& text) { return SymbolTable::parse(std::move(text), path.string()); });
}

base::Result<SymbolTable> read_live_symbols(const std::filesystem::path& path) {
    return read_symbol_file(path).map_error(about_this_machine);
}

base::Result<DropReasons> read_live_drop_reasons(const std::vector<std::filesystem::path>& formats,
                                                 const std::filesystem::path& btf) {
    std::string tried;
    std::string hint = "as root: mount -t tracefs tracefs /sys/kernel/tracing";
    const auto note = [&](const base::Error& error) { tried += (tried.empty() ? "" : "; ") + error.what; };
    for (const auto& path : formats) {
        const auto text = base::read_file(path);
        if (!text) {
            note(text.error());
            continue;
        }
        auto reasons = DropReasons::parse(*text);
        if (reasons) return reasons;
        note(reasons.error());
        hint = reasons.error().hint;
        break;
    }
    auto reasons = base::read_file(btf).and_then(
        [](const std::string& bytes) { return DropReasons::from_btf(std::as_bytes(std::span(bytes))); });
    if (reasons) return reasons;
    note(reasons.error());
    return base::cannot_here(fmt::format("the names of this kernel's drop reasons cannot be read: {}", tried), hint);
}

}  // namespace stapgen::symbols
