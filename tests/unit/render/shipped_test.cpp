// SPDX-License-Identifier: GPL-2.0-or-later
// The shipped recipes, and beside them the one that new recipes are made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "base/files.h"
#include "recipe/catalog.h"
#include "render/filters.h"
#include "render/script.h"
#include "render/standalone.h"
#include "render/tapset_files.h"

using namespace stapgen;
using namespace std::chrono_literals;

namespace {

recipe::Catalog all() {
    return recipe::load_catalog({{SOURCE_DIR "/templates"}, {SOURCE_DIR "/skeleton"}});
}

}  // namespace

TEST_CASE("what the shipped scripts call is in the tapset") {
    const auto tapsets = render::read_tapsets({SOURCE_DIR "/tapsets", SOURCE_DIR "/tapsets/debuginfo-auto"}).value();
    std::string library;
    for (const auto& file : tapsets)
        library += file.text;
    const std::regex called(R"(\b(stapgen_[a-z_0-9]+)\()");
    std::size_t calls = 0;
    const auto catalog = all();
    for (const auto& recipe : catalog.recipes) {
        if (recipe.source != recipe::Source::script) continue;
        const auto text = base::read_file(recipe.folder / "script.stp").value();
        const auto script =
            render::render_script(recipe, text, {}, 1000ms, {.aggregate = recipe.record.aggregates}).value();
        for (std::sregex_iterator at(script.begin(), script.end(), called), end; at != end; ++at, ++calls) {
            const auto name = (*at)[1].str();
            CAPTURE(name);
            CHECK((library.find("function " + name) != std::string::npos ||
                   library.find("@define " + name + "(") != std::string::npos));
        }
    }
    CHECK(calls > 100);
}

TEST_CASE("every shipped recipe that has a script renders, with and without an interval, and it stays under 80 lines") {
    const auto catalog = all();
    CHECK(catalog.broken.empty());
    REQUIRE(catalog.recipes.size() > 10);
    for (const auto& recipe : catalog.recipes) {
        CAPTURE(recipe.name);
        if (recipe.source != recipe::Source::script) continue;
        const auto text = base::read_file(recipe.folder / "script.stp").value();
        if (recipe.record.aggregates) {
            const auto script = render::render_script(recipe, text, {}, 0ms, {.aggregate = true}).value();
            CHECK(script.find("<%") == std::string::npos);
            CHECK(script.find("timer.ms(1000)") != std::string::npos);
        }
        for (const auto interval : {0ms, 5000ms}) {
            if (interval == 0ms && recipe.interval_s) continue;
            const auto script = render::render_script(recipe, text, {}, interval).value();
            CHECK(script.find("<%") == std::string::npos);
            CHECK((script.find("timer.ms(5000)") != std::string::npos) == (interval > 0ms));
            CHECK(std::count(script.begin(), script.end(), '\n') < 80);
            bool prints = script.find("printf(\"" + recipe.record.tag + "\\t") != std::string::npos;
            for (const std::string what : {"in", "out", "request", "forwarded", "answered_end"})
                prints |= script.find("stapgen_print_" + what + "(\"" + recipe.record.tag + "\",") != std::string::npos;
            CHECK(prints);
        }
    }
}

TEST_CASE("standalone scripts are no longer than they were, and say that stap needs -g where they have C") {
    // A script that grows is to be noticed; one that shrinks takes its number down.
    const std::map<std::string, int> longest{
        {"dropwatch", 72},         {"page-alloc", 77},       {"irq-latency", 118}, {"tcp-probe", 122},
        {"call-trace", 767},       {"rx-latency", 2830},     {"tx-latency", 2388}, {"net-latency", 3915},
        {"sock-latency", 3186},    {"packet-flow", 3476},    {"retransmits", 127}, {"accept-latency", 212},
        {"forward-latency", 1551}, {"connect-latency", 848}, {"losses", 1310},
    };
    const auto tapsets = render::read_tapsets({SOURCE_DIR "/tapsets", SOURCE_DIR "/tapsets/debuginfo-auto"}).value();
    const std::set<std::string> without_c{"dropwatch", "page-alloc",  "irq-latency",
                                          "tcp-probe", "retransmits", "accept-latency"};
    std::size_t measured = 0;
    for (const auto& recipe : all().recipes) {
        if (recipe.source != recipe::Source::script) continue;
        CAPTURE(recipe.name);
        const auto text = base::read_file(recipe.folder / "script.stp").value();
        const auto interval =
            std::chrono::milliseconds(static_cast<std::int64_t>(recipe.interval_s.value_or(0) * 1000));
        const auto script = render::render_script(recipe, text, {}, interval, {.filters = false}).value();
        const auto whole = render::with_tapsets(script, render::without_filters(script, tapsets));
        const auto known = longest.find(recipe.name);
        measured += known == longest.end() ? 0 : 1;
        if (known != longest.end()) CHECK(std::ranges::count(whole, '\n') <= known->second);
        const bool is_plain = whole.find("%{") == std::string::npos;
        CHECK((whole.find("\n// There is C in it: give stap -g.\n") == std::string::npos) == is_plain);
        if (without_c.contains(recipe.name)) CHECK(is_plain);
    }
    CHECK(measured == longest.size());
}

TEST_CASE("scripts of received packets have one probe of the event of a drop, with filters and without") {
    const auto tapsets = render::read_tapsets({SOURCE_DIR "/tapsets", SOURCE_DIR "/tapsets/debuginfo-auto"}).value();
    const std::regex probe(R"(\nprobe stapgen\.(skb|rx)\.drop [{])"),
        event(R"(\nprobe [^\n]*kernel\.trace\("kfree_skb"\))");
    const auto count = [](const std::string& text, const std::regex& what) {
        return std::distance(std::sregex_iterator(text.begin(), text.end(), what), {});
    };
    std::size_t found = 0;
    for (const auto& recipe : all().recipes) {
        if (recipe.name != "rx-latency" && recipe.name != "sock-latency" && recipe.name != "both-ends") continue;
        CAPTURE(recipe.name);
        const auto text = base::read_file(recipe.folder / "script.stp").value();
        for (const bool filters : {false, true}) {
            const auto script = render::render_script(recipe, text, {}, 0ms, {.filters = filters}).value();
            const auto whole =
                render::with_tapsets(script, filters ? tapsets : render::without_filters(script, tapsets));
            CHECK(count(whole, probe) == 1);
            CHECK(count(whole, event) == 1);
            ++found;
        }
    }
    CHECK(found == 6);
}
