#include "base/kernel_identity.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stapgen::base {

namespace {

constexpr std::size_t size_word = 1, base_word = 5, min_words = 6;

std::optional<std::uint64_t> base_of(std::string_view word) {
    return word.starts_with("0x") ? to_unsigned(word.substr(2), 16) : std::nullopt;
}

}  // namespace

tl::expected<LoadedModule, std::string_view> parse_loaded_module(std::string_view line) {
    const auto parts = words(trim(line));
    if (parts.size() < min_words) return tl::make_unexpected(parts.empty() ? line : parts.back());
    const auto bytes = to_unsigned(parts[size_word]);
    const auto address = base_of(parts[base_word]);
    if (!bytes || !address) return tl::make_unexpected(parts[bytes ? base_word : size_word]);
    return LoadedModule{std::string(parts[0]), *address == 0 ? std::nullopt : address, *bytes};
}

Result<std::vector<LoadedModule>> parse_loaded_modules(std::string_view text, std::string_view origin) {
    std::vector<LoadedModule> modules;
    std::size_t number = 0;
    for (const auto line : split(text, '\n')) {
        ++number;
        const auto content = trim(line);
        if (content.empty()) continue;
        auto module = parse_loaded_module(content);
        if (!module) {
            const auto column = module.error().data() - line.data() + 1;
            return bad_input(fmt::format("{} is no list of modules: line {}, column {} is not `NAME SIZE REFERENCES "
                                         "USERS STATE 0xBASE`: {}",
                                         printable(origin), number, column, printable(content.substr(0, 80))),
                             "give a copy of /proc/modules, made by root: sudo cat /proc/modules >FILE");
        }
        modules.push_back(*std::move(module));
    }
    return modules;
}

}  // namespace stapgen::base
