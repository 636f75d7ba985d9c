// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/source.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/text_blocks.h"
#include "session/namer.h"
#include "show/json.h"
#include "symbols/annotate.h"

namespace stapgen::cli {

namespace {

using symbols::AddressKind;
using symbols::KernelNames;
using Json = nlohmann::ordered_json;

std::string line_text(const symbols::SourceFrame& frame) {
    return fmt::format("    {}{} at {}:{}\n", frame.inlined ? "(inlined) " : "",
                       frame.function.empty() ? "?" : frame.function, frame.file.empty() ? "?" : frame.file,
                       frame.line);
}

Json name_json(const KernelNames& names, std::uint64_t address, const AnswerForm& form) {
    Json out{{"address", fmt::format("0x{:x}", address)},
             {"symbol", nullptr},
             {"offset", nullptr},
             {"size", nullptr},
             {"module", nullptr}};
    const auto name = names.find(address, form.kind);
    if (const auto& symbol = name.symbol) {
        out["symbol"] = symbol->marked_name();
        out["offset"] = symbol->offset;
        out["size"] = symbol->size;
        if (symbol->module) out["module"] = *symbol->module;
        if (symbol->init_text) out["init_text"] = true;
    }
    if (const auto& near = name.near) {
        out["near"] = {{"module", near->name}, {"offset", near->offset}, {"size", near->size}};
    }
    if (!form.lines) return out;
    out["source"] = Json::array();
    for (const auto& frame : names.source(address, form.kind)) {
        out["source"].push_back(
            {{"function", frame.function}, {"file", frame.file}, {"line", frame.line}, {"inlined", frame.inlined}});
    }
    return out;
}

/// With zeros before it, and a blank behind it.
void put_digits(std::uint64_t address, std::size_t digits, std::string& out) {
    std::array<char, 2 * sizeof(address)> text{};
    const auto length =
        static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), address, 16).ptr - text.data());
    if (length < digits) out.append(digits - length, '0');
    out.append(text.data(), length) += ' ';
}

/// The questions.
struct Asked {
    std::vector<std::uint64_t> addresses;
    std::vector<base::Error> errors;  ///< of words that are none
};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}

void put_address(std::string_view word, Asked& asked) {
    if (word.empty()) return;
    if (const auto address = symbols::parse_address(word)) {
        asked.addresses.push_back(*address);
    } else {
        asked.errors.push_back(address.error());
    }
}

Asked asked_in(std::string_view words) {
    Asked asked;
    for (const auto* at = words.begin(); at < words.end(); ++at) {
        const auto* const end = std::find_if(at, words.end(), is_blank);
        put_address(base::trim({at, end}), asked);
        at = end;
    }
    return asked;
}

void put_answer(const KernelNames& names, const AnswerForm& form, std::uint64_t address, std::string& out) {
    put_digits(address, static_cast<std::size_t>(names.address_digits()), out);
    const auto name = names.find(address, form.kind);
    if (name.symbol) {
        symbols::append(out, *name.symbol);
    } else {
        out += to_string(name);
    }
    out += '\n';
    if (!form.lines) return;
    for (const auto& frame : names.source(address, form.kind))
        out += line_text(frame);
}

/// False: nobody wants more.
bool put_answers(const KernelNames& names, const AnswerForm& form, std::span<const std::uint64_t> addresses,
                 std::ostream& out) {
    constexpr std::size_t at_once = 64, large = 256U << 10U;
    std::string text;
    for (; out && !addresses.empty(); addresses = addresses.subspan(std::min(at_once, addresses.size()))) {
        const auto some = addresses.first(std::min(at_once, addresses.size()));
        names.look_ahead(some);
        for (const auto address : some) {
            if (form.is_json) {
                show::put_json(out, name_json(names, address, form), -1);
            } else {
                put_answer(names, form, address, text);
            }
        }
        if (text.size() < large) continue;
        out << text;
        text.clear();
    }
    return static_cast<bool>((out << text).flush());
}

/// Words that were no address are named. True if there is none.
bool show(std::span<const base::Error> errors) {
    std::ranges::for_each(errors, base::show_error);
    return errors.empty();
}

base::Result<void> outcome(bool all_good) {
    if (all_good) return {};
    return base::bad_input("some words are not addresses");
}

/// Of all that is asked; makes the KASLR offset known.
base::Result<void> answer_all(KernelNames& names, const AnswerForm& form, std::span<const std::uint64_t> all,
                              std::ostream& out) {
    session::ReportedNotes reported;
    // Whoever gives an address by hand does not say that it is a drop's; that they all are is what is left to try.
    const auto drops = form.kind == AddressKind::drop_site || !names.kaslr_offset_known() ? all : all.first(0);
    if (!all.empty()) {
        if (auto settled = session::settle_kaslr_offset(names, drops, reported); !settled) return settled;
    }
    if (std::ranges::any_of(all, [&](auto address) { return names.find(address, form.kind).symbol.has_value(); }))
        session::report_check(names, drops);
    put_answers(names, form, all, out);
    return {};
}

}  // namespace

base::Result<void> answer(KernelNames& names, const AnswerForm& form, const std::vector<std::string>& words,
                          std::ostream& out) {
    Asked asked;
    for (const auto& word : words)
        put_address(base::trim(word), asked);
    const bool all_good = show(asked.errors);
    return answer_all(names, form, asked.addresses, out).and_then([&] { return outcome(all_good); });
}

base::Result<void> answer(KernelNames& names, const AnswerForm& form, const std::filesystem::path& file,
                          std::ostream& out) {
    STAPGEN_LET(auto source, base::Source::open(file));
    base::TextBlocks blocks(*source, is_blank);
    const bool at_once = names.kaslr_offset_known();
    if (at_once) {
        session::ReportedNotes reported;
        session::report_notes(names, reported);
        session::report_check(names, {});
    }
    bool all_good = true;
    std::vector<std::uint64_t> all;
    for (std::string words; blocks.next(words);) {
        const auto asked = asked_in(words);
        all_good = show(asked.errors) && all_good;
        if (!at_once) {
            all.insert(all.end(), asked.addresses.begin(), asked.addresses.end());
        } else if (!put_answers(names, form, asked.addresses, out)) {
            break;
        }
    }
    if (blocks.error()) return tl::make_unexpected(*blocks.error());
    if (!at_once) {
        if (auto answered = answer_all(names, form, all, out); !answered) return answered;
    }
    return outcome(all_good);
}

}  // namespace stapgen::cli
