#include "cli/commands/annotate.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/text.h"
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

/// Text that waits for the KASLR offset.
class Held {
  public:
    Held(symbols::KernelNames& names, session::ReportedNotes& reported) : names_(names), reported_(reported) {}

    /// True once the KASLR offset is known. `last`: there is no more text.
    base::Result<bool> add(std::string_view text, bool last) {
        constexpr std::size_t most = 64U << 20U;
        text_ += text;
        const auto whole = last ? text_.size() : text_.rfind('\n') + 1;
        const auto lines = std::string_view(text_).substr(looked_at_, whole - looked_at_);
        if (const auto kaslr_offset = told_kaslr_offset(lines)) {
            names_.set_kaslr_offset(*kaslr_offset, "the text says 'Kernel Offset'");
            session::report_notes(names_, reported_);
            return true;
        }
        const auto note = [this](std::uint64_t address, symbols::AddressKind kind) {
            if (kind == symbols::AddressKind::drop_site) places_.insert(address);
        };
        symbols::collect_addresses(lines, note, names_.address_digits());
        looked_at_ = whole;
        const bool must = last || text_.size() >= most;
        if (!must && places_.size() == tried_) return false;
        tried_ = places_.size();
        auto settled = session::settle_kaslr_offset(names_, std::vector(places_.begin(), places_.end()), reported_);
        if (settled) return true;
        if (must) return tl::make_unexpected(settled.error());
        return false;
    }
    std::string take() { return std::exchange(text_, {}); }

  private:
    symbols::KernelNames& names_;
    session::ReportedNotes& reported_;
    std::string text_;
    std::size_t looked_at_ = 0, tried_ = 0;
    std::set<std::uint64_t> places_;  ///< of drops
};

/// The log's own names, compared with the table as long as that can say more.
class Hearing {
  public:
    explicit Hearing(symbols::KernelNames& names) : names_(names) {}

    /// Errors: those of KernelNames::hear().
    base::Result<void> add(std::string_view text) {
        constexpr std::size_t enough = 1000;
        if (heard_ >= enough) return {};
        text_ += text;
        const auto whole = text_.rfind('\n') + 1;
        const auto witnesses =
            symbols::find_witnesses(std::string_view(text_).substr(0, whole), names_.address_digits());
        text_.erase(0, whole);
        if (std::exchange(begun_, true) && witnesses.empty()) return {};
        heard_ += witnesses.size();
        return names_.hear(witnesses);
    }

  private:
    symbols::KernelNames& names_;
    std::string text_;
    std::size_t heard_ = 0;
    bool begun_ = false;
};

/// Whether all of it can be read at once.
bool is_whole(const std::filesystem::path& file) {
    struct stat status {};
    const bool found = file == "-" ? ::fstat(STDIN_FILENO, &status) == 0 : ::stat(file.c_str(), &status) == 0;
    return found && S_ISREG(status.st_mode);
}

}  // namespace

base::Result<void> annotate(symbols::KernelNames& names, const std::filesystem::path& file) {
    session::ReportedNotes reported;
    session::report_notes(names, reported);
    auto source = base::Source::open(file);
    if (!source) return tl::make_unexpected(source.error());
    const auto append_name = [&names](std::uint64_t address, symbols::AddressKind kind, std::string& out) {
        const auto name = names.find(address, kind);
        if (name.symbol) symbols::append(out, *name.symbol);
        return name.symbol.has_value();
    };
    symbols::Annotator annotator(append_name, names.address_digits(),
                                 [&names](std::span<const std::uint64_t> addresses) { names.look_ahead(addresses); });
    Hearing hearing(names);
    Held held(names, reported);
    base::Result<void> outcome;
    bool begun = false, holding = false, copying = false;
    std::vector<char> buffer(256U << 10U);
    std::string first_lines, out;
    while (std::cout) {
        const auto count = (*source)->read(buffer);
        std::string_view text(buffer.data(), count.value_or(0));
        const bool last = text.empty();
        if (!begun) {
            // A source may give the first bytes alone.
            text = first_lines += text;
            if (!last && text.find('\n') == std::string_view::npos && text.size() < buffer.size()) continue;
        }
        if (!copying) {
            outcome = hearing.add(text);
            session::report_notes(names, reported);
            if (!outcome && begun) annotator.finish(out);
            copying = !outcome;
        }
        const bool is_sure = names.kaslr_offset_known() && !names.kaslr_offset_is_assumed();
        // What is assumed can be compared with all of a file, but not with what a pipe is still to bring.
        if (!std::exchange(begun, true)) holding = !is_sure && !(names.kaslr_offset_known() && !is_whole(file));
        std::string given_back;
        if (holding && (copying || is_sure)) {
            given_back = held.take().append(text);
            holding = false;
        } else if (holding) {
            const auto known = held.add(text, last);
            if (known && !*known) continue;
            if (!known) {
                outcome = tl::make_unexpected(known.error());
                copying = true;
            }
            holding = false;
            given_back = held.take();
        }
        const auto piece = given_back.empty() ? text : std::string_view(given_back);
        if (copying) {
            out += piece;
        } else {
            annotator.feed(piece, out);
            if (last) annotator.finish(out);
        }
        std::cout.write(out.data(), static_cast<std::streamsize>(out.size())).flush();
        out.clear();
        if (!count) return tl::make_unexpected(count.error());
        if (last) break;
    }
    return outcome;
}

}  // namespace stapgen::cli
