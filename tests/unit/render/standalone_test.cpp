// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/standalone.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/files.h"
#include "recipe/catalog.h"
#include "render/filters.h"
#include "render/script.h"
#include "render/tapset_files.h"

using namespace stapgen;

TEST_CASE("standalone scripts are no longer than they were, and those without tables have no C") {
    // A script that grows is to be noticed; one that shrinks takes its number down. -g is asked for where there is C.
    const std::map<std::string, int> longest{
        {"dropwatch", 76},         {"page-alloc", 77},       {"irq-latency", 118}, {"tcp-probe", 120},
        {"call-trace", 679},       {"rx-latency", 2805},     {"tx-latency", 2366}, {"net-latency", 3881},
        {"sock-latency", 2736},    {"packet-flow", 3460},    {"retransmits", 127}, {"accept-latency", 215},
        {"forward-latency", 1544}, {"connect-latency", 845}, {"losses", 1314},
    };
    const std::set<std::string> without_c{"dropwatch", "page-alloc",  "irq-latency",
                                          "tcp-probe", "retransmits", "accept-latency"};
    const auto tapsets = render::read_tapsets({SOURCE_DIR "/tapsets", SOURCE_DIR "/tapsets/debuginfo-auto"}).value();
    for (const auto& recipe : recipe::load_catalog({{SOURCE_DIR "/templates"}}).recipes) {
        if (recipe.source != recipe::Source::script) continue;
        CAPTURE(recipe.name);
        const auto text = base::read_file(recipe.folder / "script.stp").value();
        const auto interval =
            std::chrono::milliseconds(static_cast<std::int64_t>(recipe.interval_s.value_or(0) * 1000));
        const auto script = render::render_script(recipe, text, {}, interval, {.filters = false}).value();
        const auto whole = render::with_tapsets(script, render::without_filters(script, tapsets));
        CHECK(std::ranges::count(whole, '\n') <= longest.at(recipe.name));
        const bool is_plain = without_c.contains(recipe.name);
        CHECK((whole.find("%{") == std::string::npos) == is_plain);
        CHECK((whole.find("\n// There is C in it: give stap -g.\n") == std::string::npos) == is_plain);
    }
}

TEST_CASE(
    "a standalone script with anything of a tapset file has all of its handlers, and used_c() what they include") {
    const auto tapsets = render::read_tapsets({SOURCE_DIR "/tapsets", SOURCE_DIR "/tapsets/debuginfo-auto"}).value();
    const auto named = [](const std::string& text, const std::string& begin, const std::string& ends) {
        std::vector<std::string> found;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with(begin) && line.find(" = ") == line.npos)
                found.push_back(line.substr(0, line.find_first_of(ends, begin.size())));
        }
        return found;
    };
    int handlers = 0;
    for (const auto& file : tapsets) {
        const auto functions = named(file.text, "function ", ":(");
        if (!file.name.ends_with(".stp") || functions.empty()) continue;
        const auto called = functions.front().substr(std::string("function ").size());
        const auto whole = render::with_tapsets(fmt::format("probe begin {{ {}() }}\n", called), tapsets);
        for (const auto& handler : named(file.text, "probe ", "{")) {
            CAPTURE(handler);
            CHECK(whole.find("\n" + handler) != std::string::npos);
            ++handlers;
        }
    }
    CHECK(handlers > 90);
    CHECK(render::used_c("probe stapgen.packet.leave.divided {}", tapsets).find("stapgen_tx_attempt(") !=
          std::string::npos);
}

TEST_CASE("filters are in a standalone script where one is asked for, or where the script itself names one") {
    const std::vector<render::TapsetFile> tapsets{
        {"f.stp",
         "// ---- filters\nglobal stapgen_port = 0, stapgen_mark = 0\n// ---- end of filters\n"
         "function stapgen_is_wanted:long(p:long) {\n    // ---- filters\n    if (stapgen_port) return p == "
         "stapgen_port\n"
         "    // ---- end of filters\n    return 1\n}\n"}};
    const std::string script = "probe begin { println(stapgen_is_wanted(1)) }\n";
    CHECK(render::with_tapsets(script, render::without_filters(script, tapsets)) ==
          script + "\n// ---- of stapgen's tapset\nfunction stapgen_is_wanted:long(p:long) {\n    return 1\n}\n");
    const auto with = render::with_tapsets(script, render::with_filters(tapsets, {{"stapgen_port", "443"}}));
    CHECK(with.find("global stapgen_port = 443, stapgen_mark = 0\n") != std::string::npos);
    CHECK(with.find("return p == stapgen_port") != std::string::npos);
    CHECK(with.find("filters") == std::string::npos);
    const std::vector<render::TapsetFile> program{
        {"c/f.h", "static unsigned long stapgen_filter[STAPGEN_ROOM] = {0};\nstatic int other[1] = {0};\n"}};
    CHECK(render::with_filters(program, {{"stapgen_filter", "0x1,0x2"}})[0].text ==
          "static unsigned long stapgen_filter[STAPGEN_ROOM] = {0x1,0x2};\nstatic int other[1] = {0};\n\n");
    const std::string own = "probe begin { println(stapgen_mark) }\n";
    CHECK(render::without_filters(own, tapsets)[0].text == render::with_filters(tapsets, {})[0].text);
}

TEST_CASE("a macro that is used once, or is one string, is put in where it stands in a standalone script") {
    const std::vector<render::TapsetFile> tapsets{{"m.stpm",
                                                   "@define stapgen_once(a, b) %( @a + @b %)\n@define stapgen_text %( "
                                                   "\"t\" %)\n@define stapgen_twice(x) %( -@x %)\n"
                                                   "@define stapgen_here %( %( kernel_v < \"4\" %? 1 %: 2 %) %)\n"}};
    const auto script = render::with_tapsets(
        "probe begin { println(@stapgen_once(f(1, 2), \")\")) println(@stapgen_text) println(@stapgen_text) }\n"
        "probe end { println(@stapgen_twice(1)) println(@stapgen_twice(2)) println(@stapgen_here) }\n",
        tapsets);
    CHECK(script ==
          "\n@define stapgen_twice(x) %( -@x %)\n@define stapgen_here %( %( kernel_v < \"4\" %? 1 %: 2 %) %)\n\n"
          "probe begin { println(f(1, 2) + \")\") println(\"t\") println(\"t\") }\n"
          "probe end { println(@stapgen_twice(1)) println(@stapgen_twice(2)) println(@stapgen_here) }\n");
}

TEST_CASE("a standalone script brings the parts of the tapset it needs, through each other, and no others") {
    const std::vector<render::TapsetFile> tapsets{
        {"a.stp", "probe stapgen.a = stapgen.b {}\n"},
        {"b.stp", "probe stapgen.b = kprobe.function(\"b\") { x = @stapgen_m }\n"},
        {"c.stp", "probe stapgen.c = stapgen.a {}\nprobe stapgen.a { }\n"},
        {"m.stpm", "@define stapgen_m %( 1 %)\n"},
    };
    const auto script = render::with_tapsets("// what it is\nprobe stapgen.a { }\n", tapsets);
    CHECK(script.starts_with("// what it is\n"));
    const auto macros = script.find("@define stapgen_m"), own = script.find("probe stapgen.a {"),
               library = script.find("kprobe.function");
    CHECK(own < library);
    CHECK(library < script.size());
    // The script itself has no need of it.
    CHECK(own < macros);
    CHECK(script.find("stapgen.c") == std::string::npos);
    CHECK(render::with_tapsets("probe begin {}\n", tapsets) == "probe begin {}\n");
    CHECK(render::with_tapsets("// what it is\nprobe begin { print(@stapgen_m) }", tapsets) ==
          "// what it is\nprobe begin { print(1) }");
    CHECK(render::with_tapsets("// stapgen_m", tapsets) == "// stapgen_m");
}

TEST_CASE(
    "of a file of the tapset a standalone script has what is used, with its comment, and the probes of that file") {
    const std::vector<render::TapsetFile> tapsets{
        {"a.stp",
         "// The file.\n\nglobal stapgen_a, stapgen_b = 1   // two\nglobal stapgen_unused\n// Adds.\n// Both.\n"
         "function stapgen_add:long(x:long) {\n    return x + stapgen_a\n}\n// Not this.\n"
         "function stapgen_not_this:long() { return stapgen_unused }\n\nprobe timer.s(1) { stapgen_a++ }\n"},
        {"d.stp",
         "function stapgen_old:long() {\n%( kernel_v < \"4\" %?\n    return 1\n%)\n    return 0\n}\n\n"
         "%( kernel_v < \"3\" %?\nfunction stapgen_older:long() { return 2 }\n%)\n"},
        {"b.stp",
         "@define local %( 7 %)\nfunction stapgen_local:long() { return @local }\n"
         "probe timer.s(2) { println(1) }\n"}};
    const auto added = render::with_tapsets("probe begin { println(stapgen_add(1)) }\n", tapsets);
    CHECK(added ==
          "probe begin { println(stapgen_add(1)) }\n\n// ---- of stapgen's tapset\n"
          "global stapgen_a, stapgen_b = 1   // two\n// Adds.\n// Both.\n"
          "function stapgen_add:long(x:long) {\n    return x + stapgen_a\n}\n\nprobe timer.s(1) { stapgen_a++ }\n");
    const auto old = render::with_tapsets("probe begin { println(stapgen_old()) }\n", tapsets);
    CAPTURE(old);
    CHECK(old.ends_with(
        "tapset\nfunction stapgen_old:long() {\n%( kernel_v < \"4\" %?\n    return 1\n%)\n    return 0\n}\n"));
    const auto older = render::with_tapsets("probe begin { println(stapgen_older()) }\n", tapsets);
    CAPTURE(older);
    CHECK(older.ends_with("tapset\n%( kernel_v < \"3\" %?\nfunction stapgen_older:long() { return 2 }\n%)\n"));
    const auto local = render::with_tapsets("probe begin { println(stapgen_local()) }\n", tapsets);
    CHECK(local ==
          "probe begin { println(stapgen_local()) }\n\n// ---- of stapgen's tapset\n"
          "function stapgen_local:long() { return 7 }\nprobe timer.s(2) { println(1) }\n");
}

TEST_CASE(
    "the C of a standalone script is one piece, has what the functions include, and says what stap needs for it") {
    const std::vector<render::TapsetFile> tapsets{
        {"c.stp",
         "%{\n#include \"c/two.h\"\n%}\nfunction stapgen_c:long()\n%{\n    STAP_RETVALUE = stapgen_two();\n%}\n"
         "function stapgen_plain:long() { return 1 }\n"},
        {"c/one.h",
         "/* One. */\n#ifndef STAPGEN_ONE_H\n#define STAPGEN_ONE_H\n\n#include <linux/sched.h>\n\n"
         "struct stapgen_one {\n    int a;\n};\nstatic int stapgen_one(void) {\n    return 1;\n}\n"
         "/* Not called. */\nstatic int stapgen_other(void) { return 1; }\n\n#endif\n"},
        {"c/two.h",
         "#ifndef STAPGEN_TWO_H\n#define STAPGEN_TWO_H\n\n#include \"one.h\"\n\n"
         "#define STAPGEN_TWO 2\n#define STAPGEN_THREE 3\n"
         "/* Two. */\nstatic int stapgen_two(void) { return STAPGEN_TWO + stapgen_one(); }\n\n#endif\n"},
        {"c/unused.h", "static int stapgen_unused;\n"}};
    const auto script = render::with_tapsets("// what it is\nprobe begin { println(stapgen_c()) }\n", tapsets);
    CHECK(script.starts_with("// what it is\n// There is C in it: give stap -g.\nprobe begin"));
    CHECK(
        script.ends_with("%{\n/* One. */\n\n#include <linux/sched.h>\n\nstruct stapgen_one {\n    int a;\n};\n"
                         "static int stapgen_one(void) {\n    return 1;\n}\n\n#define STAPGEN_TWO 2\n"
                         "/* Two. */\nstatic int stapgen_two(void) { return STAPGEN_TWO + stapgen_one(); }\n%}\n"
                         "function stapgen_c:long()\n%{\n    STAP_RETVALUE = stapgen_two();\n%}\n"));
    CHECK(render::used_c("probe begin { stapgen_c() }", tapsets) == tapsets[1].text + tapsets[2].text);
    // What a file has in C does not come with its plain functions.
    CHECK(render::used_c("probe begin { stapgen_plain() }", tapsets).empty());
    CHECK(render::with_tapsets("probe begin { println(stapgen_plain()) }\n", tapsets).find("%{") == std::string::npos);
}
