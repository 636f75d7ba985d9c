#include "symbols/annotate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.h"

namespace {

using namespace stapgen;
using symbols::Mention;

struct KnowsNothing : symbols::AddressNamer {
    bool append_name(std::uint64_t, Mention, std::string&) const override { return false; }
};

/// A name that says what it was asked.
struct KnowsAll : symbols::AddressNamer {
    mutable std::vector<std::pair<std::uint64_t, Mention>> asked;
    bool append_name(std::uint64_t address, Mention mention, std::string& out) const override {
        asked.emplace_back(address, mention);
        out += mention == Mention::drop ? "<drop>" : mention == Mention::back_trace ? "<trace>" : "<instruction>";
        return true;
    }
};

struct Collector : symbols::AddressCollector {
    std::vector<std::pair<std::uint64_t, Mention>> all;
    void address(std::uint64_t address, Mention mention) override { all.emplace_back(address, mention); }
};

std::string annotated(std::string_view text, const symbols::AddressNamer& names, int digits, std::size_t step) {
    symbols::Annotator annotator(names, digits);
    std::string out;
    for (; !text.empty(); text.remove_prefix(std::min(step, text.size())))
        annotator.feed(std::string(text.substr(0, step)), out);
    annotator.finish(out);
    return out;
}

}  // namespace

/// Any cutting gives the same; without names nothing changes; what is collected is what names are asked of.
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
        symbols::collect_addresses(whole, collector, digits);
        const KnowsAll asked;
        annotated(whole, asked, digits, whole.size());
        fuzz::always(asked.asked == collector.all);
    }
    return 0;
}
