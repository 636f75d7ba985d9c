// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/drop_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/files.h"
#include "base/kernel.h"
#include "base/limits.h"
#include "base/text.h"
#include "symbols/drop_reason_table.h"
#include "symbols/files/kernel_image.h"

namespace stapgen::symbols {

namespace {

bool closes_at_end(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0) return i + 1 == text.size();
    }
    return false;
}

std::string_view without_parentheses(std::string_view text) {
    text = base::trim(text);
    while (text.starts_with('(') && closes_at_end(text)) {
        text = base::trim(text.substr(1, text.size() - 2));
    }
    return text;
}

std::optional<std::uint64_t> constant(std::string_view text) {
    constexpr std::size_t max_length = 64;
    if (text.size() > max_length) return std::nullopt;
    text = without_parentheses(text);
    if (const auto shift = text.find("<<"); shift != std::string_view::npos) {
        const auto value = constant(text.substr(0, shift));
        const auto bits = constant(text.substr(shift + 2));
        if (!value || !bits || *bits >= 32) return std::nullopt;
        return *value << *bits;
    }
    while (!text.empty() && (text.back() == 'U' || text.back() == 'L' || text.back() == 'u')) {
        text.remove_suffix(1);
    }
    return text.starts_with("0x") ? base::from_hex(text) : base::to_unsigned(text);
}

/// The entries of the first __print_symbolic(REC->reason, ...): everything behind that comma.
std::string_view reason_list(std::string_view format) {
    constexpr std::string_view call = "__print_symbolic(";
    for (;;) {
        const auto begin = format.find(call);
        if (begin == std::string_view::npos) return {};
        format.remove_prefix(begin + call.size());
        const auto comma = format.find(',');
        if (comma == std::string_view::npos) return {};
        if (format.substr(0, comma).find("reason") != std::string_view::npos) {
            return format.substr(comma + 1);
        }
    }
}

/// Takes `{ value, "NAME" }` and the comma behind it off the front of `list`; none at its end.
std::optional<std::pair<std::string_view, std::string_view>> take_entry(std::string_view& list) {
    list = base::trim(list);
    if (!list.starts_with('{')) return std::nullopt;
    const auto open = list.find('"');
    if (open == std::string_view::npos) return std::nullopt;
    const auto close = list.find('"', open + 1);
    const auto end = list.find('}', close == std::string_view::npos ? list.size() : close);
    if (end == std::string_view::npos) return std::nullopt;
    auto value = base::trim(list.substr(1, open - 1));
    if (value.ends_with(',')) value.remove_suffix(1);
    const auto name = list.substr(open + 1, close - open - 1);
    list = base::trim(list.substr(end + 1));
    if (list.starts_with(',')) list.remove_prefix(1);
    return std::pair(value, name);
}

/// A name of enum skb_drop_reason as the tracepoint prints it: "NO_SOCKET".
std::string_view as_printed(std::string_view name) {
    for (const std::string_view prefix : {base::drop_reason_prefix, std::string_view("SKB_")}) {
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    }
    return name;
}

/// "6.12.117+deb13-amd64" begins with 6.12.117, "6.12-rc3" with 6.12.0.
std::optional<LinuxVersion> version_of(std::string_view release) {
    constexpr std::string_view digits = "0123456789";
    constexpr std::size_t max_digits = 9;
    LinuxVersion version{};
    for (std::size_t part = 0; part < version.size(); ++part) {
        if (part > 0) {
            if (!release.starts_with('.')) return part == 2 ? std::optional(version) : std::nullopt;
            release.remove_prefix(1);
        }
        const auto length = std::min(release.find_first_not_of(digits), release.size());
        if (length == 0 || length > max_digits) return std::nullopt;
        version[part] = static_cast<unsigned>(*base::to_unsigned(release.substr(0, length)));
        release.remove_prefix(length);
    }
    return version;
}

constexpr std::string_view kernels_without =
    "kernels before 5.17 give no reasons, and a few later ones no numbers: their drops are grouped by place only";

}  // namespace

base::Result<DropReasons> DropReasons::parse(std::string_view format) {
    DropReasons reasons;
    auto list = reason_list(format);
    while (const auto entry = take_entry(list)) {
        const auto value = constant(entry->first);
        if (value && *value <= std::numeric_limits<std::uint32_t>::max() && !entry->second.empty())
            reasons.names_.emplace(static_cast<std::uint32_t>(*value), entry->second);
    }
    if (reasons.names_.empty()) {
        return base::bad_input("the format of the tracepoint skb:kfree_skb lists no drop reasons",
                               std::string(kernels_without));
    }
    return reasons;
}

base::Result<DropReasons> DropReasons::from_btf(std::span<const std::byte> btf) {
    STAPGEN_LET(const auto types, Btf::parse(btf));
    DropReasons reasons;
    for (const auto& [name, value] : types.enumeration("skb_drop_reason")) {
        const auto printed = as_printed(name);
        if (!printed.empty() && printed != "MAX" && printed != "SUBSYS_MASK") reasons.names_.emplace(value, printed);
    }
    for (const auto& [name, value] : types.enumeration("skb_drop_reason_subsys")) {
        constexpr std::string_view prefix = "SUBSYS_";
        const auto printed = as_printed(name);
        if (!printed.starts_with(prefix) || printed == "SUBSYS_NUM") continue;
        reasons.subsystems_.emplace(value, printed.substr(prefix.size()));
    }
    if (reasons.names_.empty()) {
        return base::bad_input("the kernel's type information (BTF) has no enum skb_drop_reason",
                               std::string(kernels_without));
    }
    return reasons;
}

base::Result<DropReasons> DropReasons::of_release(std::string_view release) {
    const auto version = version_of(release);
    if (!version) {
        return base::bad_input(
            fmt::format("'{}' does not start with a kernel version", base::printable(release)),
            "give the release as that machine's `uname -r` prints it, for example 6.12.117+deb13-amd64");
    }
    const auto table = reason_table(*version);
    if (!table) {
        return base::bad_input(
            fmt::format("Linux {}.{} has no drop reasons; 5.17 introduced them", (*version)[0], (*version)[1]),
            "if a backport has them (RHEL 9), give its vmlinux or vmlinuz (--map), or record with -o");
    }
    DropReasons reasons;
    for (const auto name : table->names) {
        reasons.names_.emplace(static_cast<std::uint32_t>(reasons.names_.size()), name);
    }
    for (const auto name : table->subsystems) {
        reasons.subsystems_.emplace(static_cast<std::uint32_t>(reasons.subsystems_.size()), name);
    }
    reasons.guess_ = fmt::format(
        "reason names are those of Linux {}{}; {} may number them otherwise: give its vmlinux or vmlinuz (--map), or "
        "record with -o, to be sure",
        table->release, table->same_series ? "" : ", the nearest known before it", base::printable(release));
    return reasons;
}

base::Result<DropReasons> DropReasons::of_this_machine(const std::vector<std::filesystem::path>& formats,
                                                       const std::filesystem::path& btf) {
    std::string tried;
    std::string hint = "as root: mount -t tracefs tracefs /sys/kernel/tracing";
    const auto note = [&](const base::Error& error) { tried += (tried.empty() ? "" : "; ") + error.what; };
    for (const auto& path : formats) {
        const auto text = base::read_named(path, base::limits::kernel_text_bytes);
        if (!text) {
            note(text.error());
            continue;
        }
        auto reasons = parse(*text);
        if (reasons) return reasons;
        note(reasons.error());
        hint = reasons.error().hint;
        break;
    }
    auto reasons = base::read_named(btf, base::limits::kernel_text_bytes).and_then([](const std::string& bytes) {
        return from_btf(std::as_bytes(std::span(bytes)));
    });
    if (reasons) return reasons;
    note(reasons.error());
    return base::cannot_here(fmt::format("the names of this kernel's drop reasons cannot be read: {}", tried), hint);
}

std::optional<std::string_view> DropReasons::name(std::uint32_t reason) const {
    const auto known = names_.find(reason);
    if (known == names_.end()) return std::nullopt;
    return known->second;
}

std::string DropReasons::describe(std::uint32_t reason) const {
    if (const auto known = name(reason)) return std::string(*known);
    const auto subsystem = reason >> 16;
    if (subsystem == 0) return fmt::format("reason {}", reason);
    if (const auto known = subsystems_.find(subsystem); known != subsystems_.end()) {
        return fmt::format("{} reason {}", known->second, reason & 0xffff);
    }
    return fmt::format("subsystem {} reason {}", subsystem, reason & 0xffff);
}

std::optional<std::string> DropReasons::describe_of_any(std::uint32_t reason) {
    const auto number = reason >> 16;
    if (number == 0) return std::nullopt;
    DropReasons any;
    if (auto names = subsystem_of_any_release(number); !names.empty())
        any.subsystems_.emplace(number, std::move(names));
    return any.describe(reason);
}

}  // namespace stapgen::symbols
