// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/annotate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "fuzz.h"

namespace {

using namespace stapgen;
using symbols::AddressKind;

struct KnowsNothing {
    bool operator()(std::uint64_t, AddressKind, std::string&) const { return false; }
};

/// A name that says what it was asked.
struct KnowsAll {
    mutable std::vector<std::pair<std::uint64_t, AddressKind>> asked;
    bool operator()(std::uint64_t address, AddressKind kind, std::string& out) const {
        asked.emplace_back(address, kind);
        out += kind == AddressKind::drop_site        ? "<drop>"
               : kind == AddressKind::return_address ? "<trace>"
                                                     : "<instruction>";
        return true;
    }
};

struct Collector {
    std::vector<std::pair<std::uint64_t, AddressKind>> all;
    void operator()(std::uint64_t address, AddressKind kind) { all.emplace_back(address, kind); }
};

std::string annotated(std::string_view text, const symbols::AppendName& names, int digits, std::size_t step) {
    symbols::Annotator annotator(names, digits);
    std::string out;
    while (!text.empty()) {
        auto cut = std::min(step, text.size());
        while (cut < text.size() && base::is_word_character(text[cut - 1]))
            ++cut;
        annotator.annotate(std::string(text.substr(0, cut)), out);
        text.remove_prefix(cut);
    }
    return out;
}

}  // namespace

/// Any cutting behind words gives the same; without names nothing changes; what is collected is what names are asked
/// of.
FUZZ_TARGET(annotate) {
    const auto text = fuzz::text_of(data, size);
    for (const int digits : {16, 8}) {
        const KnowsNothing nothing;
        fuzz::always(annotated(text, nothing, digits, size) == text);
        fuzz::always(annotated(text, nothing, digits, 1) == text);

        const KnowsAll at_once, cut;
        const auto expected = annotated(text, at_once, digits, size);
        fuzz::always(annotated(text, cut, digits, size % 7 + 1) == expected);
        fuzz::always(annotated(text, cut, digits, 61) == expected);

        const auto whole = text.substr(0, text.rfind('\n') + 1);
        Collector collector;
        symbols::collect_addresses(whole, std::ref(collector), digits);
        const KnowsAll asked;
        annotated(whole, std::cref(asked), digits, whole.size());
        fuzz::always(asked.asked == collector.all);
    }
    return 0;
}
