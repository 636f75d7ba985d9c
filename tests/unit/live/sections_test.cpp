// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/sections.h"

#include <doctest/doctest.h>

#include <sstream>

#include "../show/full_summary.h"
#include "live/frame.h"
#include "show/html/html_sections.h"
#include "show/text/sections.h"

using namespace stapgen;

namespace {

/// Something of each section.
rows::Results everything() {
    auto results = summaries::results_of(full_summary(), {});
    results.of<rows::Call>() = {{1, 1000, 8000, 0, "ip_rcv", "", "softirq", 3}};
    results.of<rows::OfInterval<rows::Drop>>().is_there = true;
    results.one<rows::Counting>().counted = "packets";
    results.of<rows::Count>() = {{"packets", {{"cpu", 1}}, 17}};
    results.of<rows::Who>() = {{.n = 7, .waiter = "web[21]"}};
    results.of<rows::CauseOfWait>() = {{"tcp-app.asleep", "7 of 9 packets waited", "its thread slept", "read sooner"}};
    results.sentences.functions = {"CPU of the 3 slow requests, 31 samples: encode 100 % (+-0)"};
    results.of<rows::Function>() = {{"encode", "app", 31, 1}};
    results.of<rows::Ledger>() = {{"received", {}, 1013}};
    results.one<rows::Cost>().probes = {{"kernel.trace(\"kfree_skb\")", 3, 5, 7}};
    return results;
}

/// Whether it says why it draws nothing.
bool says_why(const auto& draw_section) {
    if constexpr (std::is_same_v<decltype(draw_section()), show::NotHere>) {
        return !draw_section().why.empty();
    } else {
        draw_section();
        return false;
    }
}

void check(auto section, const rows::Results& results) {
    CAPTURE(section.id);
    REQUIRE(section.is_in(results));
    CHECK_FALSE(section.is_in(rows::Results()));

    std::ostringstream out;
    const show::Options options{.series = true};
    const bool not_in_text = says_why([&] { return draw(show::Text{out, results, options}, section); });
    CHECK(out.str().empty() == not_in_text);

    show::html::Section on_page;
    CHECK_FALSE(says_why([&] { return draw(on_page, section, show::html::Report{results, options, 100}); }));
    CHECK(on_page.tables.size() + on_page.listings.size() + on_page.explanations.size() > 0);

    const live::Scene scene{.title = "", .shown = results, .run = {}, .notice = ""};
    std::vector<live::Section> on_screen;
    const bool not_live = says_why([&] { return draw(live::View{scene, {}, 80, true, on_screen}, section); });
    CHECK(on_screen.empty() == not_live);
}

}  // namespace

TEST_CASE("text, page and live view have each section, or say why not") {
    const auto results = everything();
    std::apply([&](auto... sections) { (check(sections, results), ...); }, show::Sections());
}
