// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/symbol_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <tuple>

#include "base/kernel.h"

namespace stapgen::symbols {

namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

bool is_code(char type) {
    return type == 't' || type == 'T' || type == 'w' || type == 'W' || type == 'i';
}

bool looks_given_by_linker_script(std::string_view name) {
    if (!name.starts_with("__") || name.size() < 8) return false;
    const auto rest = name.substr(2);
    return rest.starts_with("start_") || rest.starts_with("stop_") || rest.starts_with("end_") ||
           rest.ends_with("_start") || rest.ends_with("_end");
}

/// The kernel lists the code that it makes at run time as of modules of these names, without sizes: BPF programs, and
/// the pages of ftrace and kprobes, each allocated by itself.
bool is_made_at_run_time(std::string_view module) {
    return module == "bpf" || module.starts_with("__builtin__");
}

/// In bytes. What %pS counts to a function before the next one begins (CONFIG_FUNCTION_ALIGNMENT_64B); more is none of
/// it.
constexpr std::uint64_t max_padding = 64;

std::uint64_t page_end(std::uint64_t address) {
    return address >= no_limit - page_size ? no_limit : (address / page_size + 1) * page_size;
}

Range kernel_text(const Markers& markers) {
    const auto begin = std::min(markers.text.value_or(no_limit), markers.stext.value_or(no_limit));
    if (begin == no_limit || !markers.etext) return {0, no_limit};
    return {begin, *markers.etext};
}

Range init_text(const Markers& markers) {
    if (!markers.sinittext || !markers.einittext) return {};
    return {*markers.sinittext, *markers.einittext};
}

}  // namespace

void append(std::string& out, const Symbol& symbol) {
    std::array<char, 2 * (3 + 16)> numbers{};
    auto* at = numbers.data();
    const auto put_hex = [&](char before, std::uint64_t number) {
        *at++ = before;
        *at++ = '0';
        *at++ = 'x';
        at = std::to_chars(at, numbers.data() + numbers.size(), number, 16).ptr;
    };
    put_hex('+', symbol.offset);
    put_hex('/', symbol.size);
    out += symbol.name;
    if (symbol.doubtful) out += '?';
    out.append(numbers.data(), at);
    if (symbol.module) {
        out += " [";
        out += *symbol.module;
        out += ']';
    }
    if (symbol.init_text) out += " (init text)";
}

std::string to_string(const Symbol& symbol) {
    std::string out;
    append(out, symbol);
    return out;
}

base::Result<SymbolTable> SymbolTable::parse(FileBytes text, std::string_view origin) {
    SymbolTable table(std::move(text));
    STAPGEN_LET(auto parsed, parse_symbol_text(table.text_, origin));
    table.modules_ = std::move(parsed.modules);
    table.is_32_bit_ = parsed.eight_digits;
    table.sort_out(parsed.lines);
    table.build(parsed.lines);
    if (table.starts_.empty()) {
        return base::bad_input(
            fmt::format("{} has no code: none of its symbols is of type T, t, W or w and in kernel text", origin),
            "give the whole System.map or a whole copy of /proc/kallsyms");
    }
    table.make_blocks();
    return table;
}

base::Result<SymbolTable> SymbolTable::read(const std::filesystem::path& path) {
    return FileBytes::read(path).and_then([&](FileBytes&& text) { return parse(std::move(text), path.string()); });
}

void SymbolTable::sort_out(std::vector<SymbolLine>& lines) {
    auto kept = lines.begin();
    for (const auto& line : lines) {
        const auto name = std::string_view(text_.data() + line.name_begin, line.name_size);
        if (line.module == 0) {
            for (const auto& [marker, member] : marker_names) {
                if (name == marker) markers_.*member = line.address;
            }
        }
        if (line.type != 'a' && line.type != 'A' && !line.noise) *kept++ = line;
    }
    lines.erase(kept, lines.end());
    const auto by_address = [](const SymbolLine& a, const SymbolLine& b) { return a.address < b.address; };
    const auto sorted_end = std::is_sorted_until(lines.begin(), lines.end(), by_address);
    std::stable_sort(sorted_end, lines.end(), by_address);
    std::inplace_merge(lines.begin(), sorted_end, lines.end(), by_address);
}

void SymbolTable::build(const std::vector<SymbolLine>& lines) {
    const auto name_of = [this](const SymbolLine& line) {
        return std::string_view(text_.data() + line.name_begin, line.name_size);
    };
    const auto kernel = kernel_text(markers_);
    const auto init = init_text(markers_);
    const auto usable = [&](const SymbolLine& line) {
        if (!is_code(line.type)) return false;
        return line.module != 0 || kernel.contains(line.address) || init.contains(line.address);
    };
    const auto rank = [&](const SymbolLine& line) {
        const auto name = name_of(line);
        return std::tuple(line.type == 'w' || line.type == 'W', looks_given_by_linker_script(name),
                          name.find_first_not_of('_'));
    };
    const auto better = [&](const SymbolLine& a, const SymbolLine& b) {
        return a.module == 0 && b.module == 0 && rank(a) < rank(b);
    };

    starts_.reserve(lines.size());
    functions_.reserve(lines.size());
    for (auto group = lines.begin(); group != lines.end();) {
        const auto start = group->address;
        const auto next =
            std::find_if(group, lines.end(), [start](const SymbolLine& line) { return line.address != start; });
        const SymbolLine* best = nullptr;
        std::uint32_t size = 0;
        for (auto line = group; line != next; ++line) {
            if (!usable(*line)) continue;
            size = std::max(size, line->size);
            if (best == nullptr || better(*line, *best)) best = &*line;
        }
        group = next;
        if (best == nullptr || start == no_limit) continue;  // nothing is left for its code

        const bool in_init = best->module == 0 && init.contains(start);
        auto end = next == lines.end() ? no_limit : next->address;
        if (best->module == 0) end = std::min(end, in_init ? init.end : kernel.end);
        bool code_follows = false;
        const bool may_follow = !is_made_at_run_time(modules_[best->module]);
        for (auto line = next; may_follow && line != lines.end() && line->address == next->address; ++line) {
            code_follows = code_follows || (is_code(line->type) && line->module == best->module);
        }
        const bool bounded_by_marker = best->module == 0 && (in_init || kernel.end != no_limit);
        if (!code_follows && !bounded_by_marker) end = std::min(end, page_end(start));
        auto length = std::min(end - start, base::max_function_length);
        if (size != 0 && length > size + max_padding) length = size;

        starts_.push_back(start);
        functions_.push_back({length, best->name_begin, best->module, best->name_size, in_init});
    }
}

void SymbolTable::make_blocks() {
    const auto span = starts_.back() - starts_.front() + (functions_.back().size - 1);
    while (span >> block_bits_ >= 2 * starts_.size())
        ++block_bits_;
    blocks_.assign((span >> block_bits_) + 2, static_cast<std::uint32_t>(starts_.size()));
    std::size_t block = 0;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
        const auto last = (starts_[i] - starts_.front()) >> block_bits_;
        while (block <= last)
            blocks_[block++] = static_cast<std::uint32_t>(i);
    }
}

const std::uint32_t* SymbolTable::block_of(std::uint64_t in_table) const {
    if (in_table < starts_.front()) return nullptr;
    const auto block = (in_table - starts_.front()) >> block_bits_;
    return block + 1 < blocks_.size() ? &blocks_[block] : nullptr;
}

void SymbolTable::look_ahead(std::span<const std::uint64_t> addresses, std::int64_t kaslr_offset) const {
    const auto block = [&](std::uint64_t address) {
        return block_of(address - static_cast<std::uint64_t>(kaslr_offset));
    };
    for (const auto address : addresses)
        __builtin_prefetch(block(address));
    for (const auto address : addresses) {
        const auto* const begin = block(address);
        if (begin == nullptr) continue;
        __builtin_prefetch(starts_.data() + *begin);
        __builtin_prefetch(functions_.data() + *begin);
    }
    for (const auto address : addresses) {
        if (const auto symbol = find(address, {AddressKind::exact, kaslr_offset}))
            __builtin_prefetch(symbol->name.data());
    }
}

std::optional<Symbol> SymbolTable::find(std::uint64_t address, const Lookup& lookup) const& {
    const auto in_table = address - static_cast<std::uint64_t>(lookup.kaslr_offset);
    const auto looked_up = in_table - (lookup.kind == AddressKind::exact ? 0 : 1);
    const auto* const block = block_of(looked_up);
    if (block == nullptr) return std::nullopt;
    const auto after = std::upper_bound(starts_.begin() + block[0], starts_.begin() + block[1], looked_up);
    const bool begins = lookup.kind == AddressKind::drop_site && after != starts_.end() && *after == in_table;
    const auto found = begins ? after : after - 1;
    const auto start = *found;
    const auto& function = functions_[static_cast<std::size_t>(found - starts_.begin())];
    if (!begins && looked_up - start >= function.size) return std::nullopt;
    if (function.module != 0 && lookup.kaslr_offset != 0) return std::nullopt;
    return symbol_of(function, in_table - start);
}

Symbol SymbolTable::symbol_of(const Function& function, std::uint64_t offset) const {
    Symbol symbol;
    symbol.name = std::string_view(text_.data() + function.name_begin, function.name_size);
    symbol.offset = offset;
    symbol.size = function.size;
    if (function.module != 0) symbol.module = modules_[function.module];
    symbol.init_text = function.init_text;
    return symbol;
}

SymbolTable::Entry SymbolTable::function(std::size_t index) const& {
    return {starts_[index], symbol_of(functions_[index], 0)};
}

std::vector<std::uint64_t> SymbolTable::addresses_of(std::string_view name) const {
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        if (symbol_of(functions_[i], 0).name == name) found.push_back(starts_[i]);
    }
    return found;
}

}  // namespace stapgen::symbols
