// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/symbol_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "symbols/files/address_words.h"

namespace stapgen::symbols {

namespace {

constexpr std::ptrdiff_t min_digits = 8;
constexpr std::ptrdiff_t max_address_digits = 16;
constexpr std::string_view copy_hint = "a copy of the machine's own table is enough: sudo cat /proc/kallsyms >FILE";

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

bool is_name_char(char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
}

/// Where the name at `at` ends. Eight bytes are looked at at a time: half of a symbol table are names.
const char* name_end(const char* at, const char* end) {
    for (; end - at >= 8; at += 8) {
        const auto bytes = hex::load(at);
        const auto above_blank = ((bytes & ~hex::high_bits) + hex::each * (0x7f - ' ')) | bytes;
        const auto not_delete = (((bytes ^ hex::each * 0x7f) & ~hex::high_bits) + hex::each * 0x7f) | bytes;
        const auto others = ~(above_blank & not_delete) & hex::high_bits;
        if (others != 0) return at + std::countr_zero(others) / 8;
    }
    while (at != end && is_name_char(*at))
        ++at;
    return at;
}

bool is_noise(std::string_view name) {
    if (name[0] == '$') return true;
    if (name[0] == '.') return name.starts_with(".L");
    return name.starts_with("__typeid__");
}

bool is_type(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '?' || c == '-';
}

class LineReader {
  public:
    explicit LineReader(std::string_view text) : begin_(text.data()), at_(text.data()), end_(at_ + text.size()) {}

    [[nodiscard]] bool at_end() const { return at_ == end_; }

    /// Reads one line into `out`. False at one that is left out, and at a bad one, where it stays: see bad().
    bool read(SymbolText& out) {
        ++line_number_;
        line_begin_ = at_;
        if (at_line_end()) return false;
        SymbolLine line{};
        if (!read_number(line.address) || !skip_blanks() || !read_size(line.size) || !read_type(line.type) ||
            !skip_blanks()) {
            bad_ = true;
            return false;
        }
        if (skip_local_label()) return false;
        if (!read_name(line) || !read_module(out, line.module) || !at_line_end()) {
            bad_ = true;
            return false;
        }
        out.lines.push_back(line);
        return true;
    }

    [[nodiscard]] bool bad() const { return bad_; }
    /// All addresses read had 8 digits.
    [[nodiscard]] bool eight_digits() const { return eight_digits_; }
    [[nodiscard]] std::size_t line_number() const { return line_number_; }
    [[nodiscard]] std::size_t column() const { return static_cast<std::size_t>(at_ - line_begin_) + 1; }
    [[nodiscard]] std::string_view line() const {
        return {line_begin_, static_cast<std::size_t>(std::find(line_begin_, end_, '\n') - line_begin_)};
    }

  private:
    bool at_line_end() {
        const char* at = at_;
        while (at != end_ && is_blank(*at))
            ++at;
        if (at != end_ && *at == '\r') ++at;
        if (at != end_ && *at != '\n') return false;
        at_ = at == end_ ? at : at + 1;
        return true;
    }

    /// True where there is none.
    bool read_size(std::uint32_t& size) {
        if (end_ - at_ < 2 || !hex::is_digit(*at_) || is_blank(at_[1])) return true;
        std::uint64_t size_read = 0;
        const bool all_eight = eight_digits_;
        if (!read_number(size_read) || !skip_blanks()) return false;
        eight_digits_ = all_eight;
        size =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(size_read, std::numeric_limits<std::uint32_t>::max()));
        return true;
    }

    bool read_number(std::uint64_t& address) {
        if (end_ - at_ > 2 && at_[0] == '0' && (at_[1] == 'x' || at_[1] == 'X')) at_ += 2;
        std::uint64_t high = 0;
        std::uint64_t low = 0;
        if (end_ - at_ >= max_address_digits && hex::read_eight(at_, high) && hex::read_eight(at_ + 8, low)) {
            at_ += max_address_digits;
            address = high << 32 | low;
            eight_digits_ = false;
            return true;
        }
        const char* at = at_;
        const char* const limit = at + std::min(end_ - at, max_address_digits);
        std::uint64_t value = 0;
        for (; at != limit && hex::is_digit(*at); ++at)
            value = value << 4 | static_cast<std::uint64_t>(hex::value_of(*at));
        const auto digits = at - at_;
        if (digits > min_digits) eight_digits_ = false;
        at_ = at;
        address = value;
        return digits >= min_digits;
    }

    bool skip_blanks() {
        if (at_ == end_ || !is_blank(*at_)) return false;
        while (at_ != end_ && is_blank(*at_))
            ++at_;
        return true;
    }

    bool read_type(char& type) {
        if (at_ == end_ || !is_type(*at_)) return false;
        type = *at_++;
        return true;
    }

    /// A local label of gas has a control character in its name (FAKE_LABEL_CHAR, DOLLAR_LABEL_CHAR, LOCAL_LABEL_CHAR
    /// in its sources). Modules of arm64 and SystemTap's have them in /proc/kallsyms: ".L1447\x02" "1\t[9p]".
    bool skip_local_label() {
        constexpr std::string_view beginning = ".L";
        const auto rest = std::string_view(at_, static_cast<std::size_t>(end_ - at_));
        const char* const at = name_end(at_, end_);
        if (!rest.starts_with(beginning) || at == end_ || (*at != '\x01' && *at != '\x02')) return false;
        at_ = std::find(at, end_, '\n');
        return at_line_end();
    }

    bool read_name(SymbolLine& line) {
        const char* const at = name_end(at_, end_);
        const auto size = static_cast<std::size_t>(at - at_);
        if (size == 0 || size > std::numeric_limits<std::uint16_t>::max()) return false;
        line.name_begin = static_cast<std::uint32_t>(at_ - begin_);
        line.name_size = static_cast<std::uint16_t>(size);
        line.noise = is_noise({at_, size});
        at_ = at;
        return true;
    }

    bool read_module(SymbolText& out, std::uint32_t& module) {
        const char* at = at_;
        while (at != end_ && is_blank(*at))
            ++at;
        if (at == end_ || *at != '[') return true;
        const char* const name = ++at;
        while (at != end_ && is_name_char(*at) && *at != ']')
            ++at;
        if (at == end_ || *at != ']' || at == name) return false;
        module = module_index(out, {name, static_cast<std::size_t>(at - name)});
        at_ = at + 1;
        return true;
    }

    std::uint32_t module_index(SymbolText& out, std::string_view name) {
        if (out.modules[last_module_] == name) return last_module_;
        const auto [known, added] = modules_.try_emplace(name, static_cast<std::uint32_t>(out.modules.size()));
        if (added) out.modules.push_back(name);
        return last_module_ = known->second;
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    const char* line_begin_ = nullptr;
    std::size_t line_number_ = 0;
    bool bad_ = false;
    bool eight_digits_ = true;
    std::uint32_t last_module_ = 0;
    std::unordered_map<std::string_view, std::uint32_t> modules_;
};

bool is_debian_stub(std::string_view text) {
    constexpr std::size_t stub_limit = 1024;
    return text.size() < stub_limit && text.find("real System.map is in") != std::string_view::npos;
}

tl::unexpected<base::Error> no_table(std::string_view text, std::string_view origin, const LineReader& reader) {
    if (text.starts_with("\x7f"
                         "ELF")) {
        return base::bad_input(fmt::format("{} is not a symbol table but an ELF file", origin),
                               "nm -n FILE makes a symbol table of a vmlinux");
    }
    if (text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd") ||
        text.starts_with("\xfd"
                         "7zXZ")) {
        return base::bad_input(fmt::format("{} is not a symbol table but a compressed file", origin),
                               "decompress it first");
    }
    constexpr std::size_t shown = 60;
    return base::bad_input(
        fmt::format("{} is not a symbol table: line {}, column {} is not `ADDRESS TYPE NAME`: {}", origin,
                    reader.line_number(), reader.column(), base::printable(reader.line().substr(0, shown))),
        fmt::format("give System.map or a copy of /proc/kallsyms; {}", copy_hint));
}

constexpr std::string_view heading = "SYMBOL TABLE:";

/// The seven flags of bfd_print_symbol_vandf() (binutils, bfd/syms.c), and the section behind them.
char nm_type(std::string_view flags, std::string_view section) {
    char type = 'd';
    if (section == "*ABS*") type = 'a';
    if (flags[6] == 'F' || section.find("text") != std::string_view::npos) type = 't';
    if (flags[1] == 'w') return type == 't' ? 'W' : 'V';
    return flags[0] == 'l' ? type : static_cast<char>(std::toupper(type));
}

}  // namespace

base::Result<SymbolText> parse_symbol_text(std::string_view text, std::string_view origin) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
        return base::bad_input(fmt::format("{} is not a symbol table: it is larger than 4 GiB", origin));
    }
    if (is_debian_stub(text)) {
        const auto release = release_in_name(origin);
        return base::bad_input(fmt::format("{} is Debian's one-line stub, not a symbol table; the real one is in the "
                                           "package linux-image-{}-dbg (/usr/lib/debug/boot/)",
                                           origin, release.empty() ? "<version>" : release),
                               fmt::format("no package is needed, {}", copy_hint));
    }
    SymbolText out;
    constexpr std::size_t usual_line = 40;
    out.lines.reserve(text.size() / usual_line);
    LineReader reader(text);
    while (!reader.at_end()) {
        if (!reader.read(out) && reader.bad()) return no_table(text, origin, reader);
    }
    out.eight_digits = reader.eight_digits();
    if (out.lines.empty()) return base::bad_input(fmt::format("{} is empty", origin), std::string(copy_hint));
    if (std::ranges::all_of(out.lines, [](const SymbolLine& line) { return line.address == 0; })) {
        return base::bad_input(
            fmt::format("{} has no addresses: the kernel that wrote it hid them, all are zero", origin),
            "read /proc/kallsyms as root; if root sees zeros, too: sysctl kernel.kptr_restrict=1");
    }
    return out;
}

std::string release_in_name(const std::filesystem::path& file) {
    const auto starts_as_release = [](std::string_view text) {
        return !text.empty() && text[0] >= '1' && text[0] <= '9' && text.find('.') != std::string_view::npos;
    };
    const auto name = file.filename().string();
    for (const std::string_view known : {"System.map-", "vmlinux-", "vmlinuz-", "kallsyms-", "config-"}) {
        if (!name.starts_with(known)) continue;
        auto release = std::string_view(name).substr(known.size());
        for (const std::string_view packing : {".gz", ".xz", ".zst"}) {
            if (release.ends_with(packing)) release.remove_suffix(packing.size());
        }
        return std::string(starts_as_release(release) ? release : "");
    }
    const auto folder = file.parent_path().filename().string();
    return starts_as_release(folder) ? folder : "";
}

bool is_objdump_text(std::string_view text) {
    constexpr std::size_t searched = 4096;
    return text.substr(0, searched).find(heading) != std::string_view::npos;
}

std::string nm_of_objdump(std::string_view text) {
    constexpr std::size_t flag_count = 7;
    std::string out;
    text.remove_prefix(std::min(text.find(heading), text.size()));
    for (auto line : base::split(text, '\n')) {
        const auto digits = line.find(' ');
        if (digits != 8 && digits != 16) continue;
        const auto address = line.substr(0, digits);
        line.remove_prefix(digits + 1);
        if (line.size() <= flag_count || line[flag_count] != ' ') continue;
        const auto flags = line.substr(0, flag_count);
        const auto rest = base::words(line.substr(flag_count));
        if (rest.size() < 3 || rest[0] == "*UND*" || flags[5] != ' ' || flags[6] == 'f') continue;
        fmt::format_to(std::back_inserter(out), "{} {} {} {}\n", address, rest[1], nm_type(flags, rest[0]),
                       rest.back());
    }
    return out;
}

}  // namespace stapgen::symbols
