// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/annotate.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/source.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/text_blocks.h"
#include "session/namer.h"
#include "symbols/annotate.h"

namespace stapgen::cli {

namespace {

/// "Kernel Offset: 0x1c000000 from 0xffffffff81000000 (relocation range: ...)": a panic's last words have the KASLR
/// offset.
std::optional<std::int64_t> told_kaslr_offset(std::string_view text) {
    constexpr std::string_view before = "Kernel Offset: 0x";
    const auto at = text.find(before);
    if (at == std::string_view::npos) return std::nullopt;
    const auto rest = text.substr(at + before.size());
    const auto end = rest.find(' ');
    if (end == std::string_view::npos || !rest.substr(end).starts_with(" from 0x")) return std::nullopt;
    const auto kaslr_offset = base::to_unsigned(rest.substr(0, end), 16);
    return kaslr_offset ? std::optional(static_cast<std::int64_t>(*kaslr_offset)) : std::nullopt;
}

/// A text in blocks, and what it says of its kernel.
class CheckedText {
  public:
    /// `is_whole`: all of it can be read at once.
    CheckedText(symbols::KernelNames& names, base::TextBlocks blocks, bool is_whole)
        : names_(names),
          blocks_(std::move(blocks)),
          is_whole_(is_whole),
          // An assumption can be compared with all of a file, but not with what a pipe is still to bring.
          is_settling_(!is_sure() && (is_whole || !names.kaslr_offset_known())),
          is_holding_(is_settling_ || !names.is_proven()) {
        session::report_notes(names_, reported_);
    }

    /// False: there is no more, see outcome().
    bool next(std::string& block) {
        bool is_there = false;
        do {
            is_there = next_block(block);
            check(block);
            if (is_holding_) is_holding_ = must_wait(block, !is_there);
        } while (is_holding_);
        if (!held_.empty()) block = std::exchange(held_, {});
        note_starts(block);
        return !block.empty();
    }
    /// The last block. False: it is copied as it is.
    [[nodiscard]] bool has_names() const { return outcome_.has_value(); }
    /// The log says that a function begins there. A return address may be there, too, behind the function before.
    [[nodiscard]] bool is_start(std::uint64_t address) const { return starts_.contains(address); }

    /// Errors: see annotate().
    [[nodiscard]] base::Result<void> outcome() const {
        return blocks_.error() ? tl::make_unexpected(*blocks_.error()) : outcome_;
    }

  private:
    /// Of what can be read at once whole lines, as long as these are short: the name of an address may be behind it.
    bool next_block(std::string& block) {
        constexpr std::size_t short_line = 4096;
        const bool is_there = blocks_.next(block);
        block.insert(0, std::exchange(cut_, {}));
        const auto end = block.rfind('\n') + 1;  // npos + 1 is 0
        if (is_whole_ && is_there && end > 0 && block.size() - end <= short_line) {
            cut_ = block.substr(end);
            block.erase(end);
        }
        return !block.empty();
    }

    /// "[<ffffffff81084240>] ? process_timeout+0x0/0x10".
    void note_starts(std::string_view text) {
        constexpr std::size_t most = 65536;
        constexpr std::string_view sign = "+0x0";
        for (auto at = text.find(sign); at != text.npos && starts_.size() < most;) {
            const auto begin = text.rfind('\n', at) + 1;  // npos + 1 is 0
            const auto end = std::min(text.find('\n', at), text.size());
            for (const auto& named :
                 symbols::find_named_addresses(text.substr(begin, end - begin), names_.address_digits())) {
                if (named.has_offset && named.offset == 0) starts_.insert(named.address);
            }
            at = text.find(sign, end);
        }
    }

    [[nodiscard]] bool is_sure() const { return names_.kaslr_offset_known() && !names_.kaslr_offset_is_assumed(); }

    /// Compares the log's own names with the table as long as that can say more.
    void check(std::string_view text) {
        constexpr std::size_t enough = 1000;
        if (checked_ >= enough || !outcome_) return;
        const auto end = text.rfind('\n');
        unchecked_ += text;
        if (end == text.npos) {
            if (unchecked_.size() > base::limits::line_bytes) unchecked_.clear();
            return;
        }
        const auto whole = unchecked_.size() - text.size() + end + 1;
        const auto lines = std::string_view(unchecked_).substr(0, whole);
        const auto named = symbols::find_named_addresses(lines, names_.address_digits());
        unchecked_.erase(0, whole);
        if (named.empty()) return;
        checked_ += named.size();
        outcome_ = names_.check_names(named);
        session::report_notes(names_, reported_);
    }

    /// Adds to what is held. False once that need not wait: the KASLR offset is known, or will not be, and the map has
    /// been checked.
    bool must_wait(std::string_view text, bool last) {
        const auto end = text.rfind('\n');
        const auto whole = last ? held_.size() + text.size() : end == text.npos ? looked_at_ : held_.size() + end + 1;
        held_ += text;
        if (!outcome_) return false;
        const auto lines = std::string_view(held_).substr(looked_at_, whole - looked_at_);
        looked_at_ = whole;
        release_.read(lines);
        const auto note = [this](std::uint64_t address, symbols::AddressKind kind) {
            if (kind == symbols::AddressKind::drop_site) places_.insert(address);
            if (address >= symbols::upper_half || names_.address_digits() == 8) has_addresses_ = true;
        };
        symbols::collect_addresses(lines, note, names_.address_digits());
        is_settling_ = is_settling_ && must_settle(lines, last);
        constexpr std::size_t checked = 4U << 20U;
        if (is_settling_ || (is_whole_ && !last && !names_.is_proven() && held_.size() < checked)) return true;
        names_.set_log_release(release_.release());
        if (outcome_ && has_addresses_)
            session::report_check(names_, std::vector(places_.begin(), places_.end()), !is_whole_ && !last);
        return false;
    }

    /// False: the KASLR offset is known, or will not be.
    bool must_settle(std::string_view lines, bool last) {
        constexpr std::size_t most = 64U << 20U;
        if (is_sure()) return false;
        if (const auto kaslr_offset = told_kaslr_offset(lines)) {
            names_.set_kaslr_offset(*kaslr_offset, "the text says 'Kernel Offset'");
            session::report_notes(names_, reported_);
            return false;
        }
        const bool must = last || held_.size() >= most;
        if (!must && places_.size() == tried_) return true;
        tried_ = places_.size();
        auto settled = session::settle_kaslr_offset(names_, std::vector(places_.begin(), places_.end()), reported_);
        if (!settled && !must) return true;
        outcome_ = std::move(settled);
        return false;
    }

    symbols::KernelNames& names_;
    session::ReportedNotes reported_;
    base::TextBlocks blocks_;
    base::Result<void> outcome_;
    std::string cut_;        ///< the beginning of a line, for the next block
    std::string unchecked_;  ///< a line that is not yet whole
    std::size_t checked_ = 0;
    bool is_whole_;
    bool is_settling_;  ///< the KASLR offset
    bool is_holding_;
    std::string held_;  ///< waits for the KASLR offset and the check of the map
    std::size_t looked_at_ = 0, tried_ = 0;
    std::set<std::uint64_t> places_;  ///< of drops
    std::set<std::uint64_t> starts_;  ///< of functions
    symbols::ReleaseFinder release_;
    bool has_addresses_ = false;
};

/// The addresses of a text as long as none of them got a name.
class Unnamed {
  public:
    explicit Unnamed(int digits) : digits_(digits) {}

    void read(std::string_view text) {
        const auto lowest = other_digits() == 8 ? std::uint64_t{1} << 31U : symbols::upper_half;
        has_text_ = has_text_ || !text.empty();
        const auto note = [&](std::uint64_t address, symbols::AddressKind /*kind*/) {
            if (address >= lowest) ++others_;
        };
        if (asked_ == 0) symbols::collect_addresses(text, note, other_digits());
    }
    void count(bool has_name) {
        ++asked_;
        has_named_ = has_named_ || has_name;
    }
    void report() const {
        if (has_named_ || !has_text_) return;
        auto why = asked_ > 0 ? fmt::format("none of {} is in this kernel's code", asked_)
                              : fmt::format("there is none of {} digits, as this kernel has them", digits_);
        if (asked_ == 0 && others_ > 0) {
            why += fmt::format("; {} of {} digits may be of a {}-bit kernel, which has another map", others_,
                               other_digits(), 4 * other_digits());
        }
        base::print_message(fmt::format("no address got a name: {}", why));
    }

  private:
    [[nodiscard]] int other_digits() const { return digits_ == 8 ? 16 : 8; }

    int digits_;
    std::int64_t asked_ = 0, others_ = 0;
    bool has_named_ = false, has_text_ = false;
};

/// Whether all of it can be read at once.
bool is_whole(const std::filesystem::path& file) {
    struct stat status {};
    const bool found = file == "-" ? ::fstat(STDIN_FILENO, &status) == 0 : ::stat(file.c_str(), &status) == 0;
    return found && S_ISREG(status.st_mode);
}

}  // namespace

base::Result<void> annotate(symbols::KernelNames& names, const std::filesystem::path& file, std::ostream& out) {
    STAPGEN_LET(auto source, base::Source::open(file));
    CheckedText text(names, base::TextBlocks(*source, [](char c) { return !base::is_word_character(c); }),
                     is_whole(file));
    Unnamed unnamed(names.address_digits());
    const auto append_name = [&](std::uint64_t address, symbols::AddressKind kind, std::string& to) {
        const bool is_start = kind == symbols::AddressKind::return_address && text.is_start(address);
        const auto name = names.find(address, is_start ? symbols::AddressKind::exact : kind);
        if (name.symbol) symbols::append(to, *name.symbol);
        unnamed.count(name.symbol.has_value());
        return name.symbol.has_value();
    };
    const auto look_ahead = [&names](std::span<const std::uint64_t> addresses) { names.look_ahead(addresses); };
    symbols::Annotator annotator(append_name, names.address_digits(), look_ahead);
    for (std::string block, copy; text.next(block);) {
        if (text.has_names()) {
            unnamed.read(block);
            copy.clear();
            annotator.annotate(block, copy);
            block.swap(copy);
        }
        if (!out.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) break;
    }
    if (text.outcome()) unnamed.report();
    return text.outcome();
}

}  // namespace stapgen::cli
