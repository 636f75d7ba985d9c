// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "render/filters.h"
#include "render/script.h"
#include "render/standalone.h"
#include "render/tapset_files.h"
#include "render/tracepoints.h"

using namespace stapgen;
using namespace std::chrono_literals;

TEST_CASE("a template keeps stap's own brackets and drops sections without a value") {
    CHECK(render::fill_template("global a%[<%n%>] // {{x}}\n", {{"n", "17"}}, "s").value() ==
          "global a%[17] // {{x}}\n");
    CHECK(render::fill_template("a<%#t%>b<%/t%>c", {{"t", "0"}}, "s").value() == "ac");
    CHECK(render::fill_template("a\n  <%#t%>\nb\n<%/t%>\nc\n", {{"t", "5"}}, "s").value() == "a\nb\nc\n");
    CHECK(render::fill_template("a<%#t%>b<%t%><%/t%>c", {{"t", "5"}}, "s").value() == "ab5c");
}

TEST_CASE("a name that no recipe declares is an error with line and column, not empty text") {
    const auto filled = render::fill_template("one\n  <% pakets %>\n", {{"packets", "1"}}, "x/script.stp");
    CHECK(filled.error().what == "x/script.stp:2:3: the template names 'pakets', which recipe.toml does not declare");
    CHECK(filled.error().hint == "did you mean 'packets'?");
    const auto numbered =
        render::fill_template("a\n<%#t%>\nb<%v%>\n<%/t%>\nc\n", {{"t", "5"}, {"v", "1\n2\n3"}}, "s", true);
    CHECK(render::source_lines(numbered.value()) == std::vector<std::size_t>{1, 3, 3, 3, 5, 6});
    CHECK_FALSE(render::fill_template("<%#a%>b", {{"a", "1"}}, "s"));
    CHECK_FALSE(render::fill_template("<%a", {{"a", "1"}}, "s"));
}

TEST_CASE("no text that a user gives can end the string it stands in") {
    recipe::Recipe mine;
    mine.name = "mine";
    mine.parameters = {{.name = "who", .type = recipe::ParameterType::text, .help = "h"}};
    const auto script = render::render_script(mine, "probe begin { println(\"<%who%>\") }",
                                              {{"who", "x\") } probe begin { system(\"id\") } //%\n\xc3\xa4"}}, 0ms)
                            .value();
    CHECK(script ==
          "probe begin { println(\"x\\042\\051 \\175 probe begin \\173 system\\050\\042id\\042\\051 \\175 "
          "\\057\\057\\045\\012\\303\\244\") }");
}

TEST_CASE("a duration reaches the script as ns, and of the choices the one that was made is a section") {
    recipe::Recipe mine;
    mine.name = "mine";
    mine.parameters = {
        {.name = "slower-than", .type = recipe::ParameterType::duration, .default_value = "0"},
        {.name = "way", .type = recipe::ParameterType::text, .default_value = "rx", .choices = {"rx", "tx-only"}}};
    const auto script = [&](const recipe::Arguments& arguments) {
        return render::render_script(mine,
                                     "<%#slower_than%>t > <%slower_than%> <%/slower_than%>"
                                     "<%#way_is_rx%>in<%/way_is_rx%><%#way_is_tx_only%>out<%/way_is_tx_only%> <%way%>",
                                     arguments, 0ms)
            .value();
    };
    CHECK(script({}) == "in rx");
    CHECK(script({{"slower-than", "500us"}, {"way", "tx-only"}}) == "t > 500000 out tx-only");
}

TEST_CASE("a script that aggregates has its own sections, a tick each second if nobody asks for more, and says so") {
    recipe::Recipe mine;
    mine.name = "mine";
    mine.record = {{"m", 0, {{"took", schema::FieldType::stage}}}, true};
    const auto script = [&](std::chrono::milliseconds interval, bool aggregate) {
        return render::render_script(mine,
                                     "<%header%> <%#aggregate%>bins<%/aggregate%><%^aggregate%>records<%/aggregate%> "
                                     "<%#interval_ms%><%interval_ms%><%/interval_ms%>",
                                     {}, interval, {.aggregate = aggregate})
            .value();
    };
    CHECK(script(0ms, false) == "stapgen\\t4\\tmine\\tm\\ttook:stage records ");
    CHECK(script(250ms, false) == "stapgen\\t4\\tmine\\tm\\ttook:stage records 250");
    CHECK(script(0ms, true) == "stapgen\\t4\\tmine,aggregated,silent\\tm\\ttook:stage bins 1000");
    CHECK(script(250ms, true) == "stapgen\\t4\\tmine,aggregated\\tm\\ttook:stage bins 250");
}

TEST_CASE("what aggregates is printed and sized as the schema says") {
    using schema::FieldType;
    recipe::Recipe mine;
    mine.name = "mine";
    mine.macros = {"MAXACTION=7"};
    mine.record = {
        {"m", 0, {{"bytes"}, {"in-a", FieldType::stage}, {"total", FieldType::stage}, {"n", FieldType::value}}}, true};
    const auto script = [&](std::string_view text) {
        return render::render_script(mine, text, {}, 0ms, {.aggregate = true}).value();
    };
    CHECK(script("    <%print_aggregated%>\n") ==
          "    stapgen_print_aggregated(\"m\", \"in-a\", 0)\n"
          "    stapgen_print_aggregated(\"m\", \"total\", 1)\n"
          "    stapgen_print_aggregated(\"m\", \"n\", 2)\n"
          "    stapgen_print_split(\"m\", \"-\", 0)\n");
    CHECK(script("<%number_of_in_a%> <%number_of_n%>") == "0 2");
    CHECK(script("[<%unseen_before_in_a%>] [<%unseen_from_in_a%>]") == R"([] [\t-\t-\t-])");
    CHECK(script("[<%unseen_before_n%>] [<%unseen_from_n%>]") == R"([\t-\t-] [\t-])");
    CHECK(render::macros_of(mine, {}) ==
          std::vector<std::string>{"MAXACTION=7", "STAPGEN_FIELDS=3", "STAPGEN_PARTS=1"});

    mine.record.fields = {{"way", FieldType::text}, {"in-a", FieldType::stage}};
    CHECK(script("<%print_aggregated%>")
              .ends_with("stapgen_print_split(\"m\", \"rx\", 0)\n"
                         "    stapgen_print_split(\"m\", \"tx\", 1)"));
    CHECK(render::macros_of(mine, {}) ==
          std::vector<std::string>{"MAXACTION=7", "STAPGEN_FIELDS=1", "STAPGEN_DIRECTIONS=2"});
    mine.record.aggregates = false;
    CHECK(render::macros_of(mine, {}) == mine.macros);
}

TEST_CASE("parts of stages are in a script, or with --no-parts are not") {
    using schema::FieldType;
    recipe::Recipe mine;
    mine.name = "mine";
    mine.record = {{"m", 0, {{"a", FieldType::stage}, {"a.b", FieldType::stage}, {"c", FieldType::stage}}}, true};
    mine.parameters = {{.name = "no-parts", .type = recipe::ParameterType::boolean, .default_value = "false"}};
    const auto script = [&](const recipe::Arguments& arguments) {
        return render::render_script(mine, "<%header%> <%#parts%>parts <%/parts%><%number_of_c%>\n", arguments, 0ms)
            .value();
    };
    CHECK(script({}) == "stapgen\\t5\\tmine\\tm\\ta:stage\\ta.b:stage\\tc:stage parts 2\n");
    CHECK(script({{"no-parts", "true"}}) == "stapgen\\t4\\tmine\\tm\\ta:stage\\tc:stage 1\n");
    CHECK(render::macros_of(mine, {}) == std::vector<std::string>{"STAPGEN_WAITS=1", "STAPGEN_FIELDS=3"});
    CHECK(render::macros_of(mine, {{"no-parts", "true"}}) == std::vector<std::string>{"STAPGEN_FIELDS=2"});
}

TEST_CASE("a first line that SystemTap would cut is refused, unless it is printed as a format") {
    recipe::Recipe mine;
    mine.name = "mine";
    mine.record = {{"m", 0, std::vector<schema::Field>(101, {"abc"})}};
    const auto refused = render::render_script(mine, "probe begin { stapgen_print_header(\"<%header%>\") }", {}, 0ms);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.ends_with("is longer than 511 bytes"));
    CHECK(render::render_script(mine, "probe begin { printf(\"<%header%>\\n\") stapgen_begin() }", {}, 0ms));
    const auto is_taken = [&](std::size_t bytes) {
        mine.record.fields = {{"a"}};
        mine.record.fields[0].name.resize(1 + bytes - mine.header().line().size(), 'a');
        return render::render_script(mine, "probe begin { stapgen_print_header(\"<%header%>\") }", {}, 0ms).has_value();
    };
    CHECK(is_taken(511));
    CHECK_FALSE(is_taken(512));
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

TEST_CASE("a section's name does not change what stands for another name, and an inverted section works") {
    CHECK(render::fill_template("<%v%><%#v_long%>x<%/v_long%>", {{"v", "0"}, {"v_long", "1"}}, "s").value() == "0x");
    CHECK(render::fill_template("<%^v%>none<%/v%>", {{"v", "false"}}, "s").value() == "none");
    CHECK(render::fill_template("<%^v%>none<%/v%>", {{"v", "true"}}, "s").value().empty());
}

TEST_CASE("whether a script probes functions is found through aliases and macros, and comments do not count") {
    const std::vector<render::TapsetFile> tapsets = {
        {"a.stp",
         "// kprobe.function(\"x\") of stapgen.function\nprobe stapgen.trace = kernel.trace(\"x\") { y = 1 }\n"
         "// stapgen.function is below\nprobe stapgen.function = stapgen.way !,\n      kernel.trace(\"y\") {}\n"
         "probe stapgen.way = kprobe.function(\"f\") {}\nfunction stapgen_f() { return 1 }\n"},
        {"b.stp", "global stapgen_first, stapgen_seen\nprobe stapgen.function { stapgen_seen[1] = 1 }\n"},
        {"m.stpm", "@define stapgen_all(way) %( stapgen.way.@way %)\n"}};
    CHECK_FALSE(render::probes_functions("probe stapgen.trace { print(stapgen_f()) }", tapsets));
    CHECK_FALSE(render::probes_functions("// stapgen.function\nprobe begin { }", tapsets));
    CHECK(render::probes_functions("probe stapgen.function { }", tapsets));
    CHECK(render::probes_functions("probe @stapgen_all(call) { }", tapsets));
    // A file that is needed brings its probes along.
    CHECK(render::probes_functions("probe stapgen.trace { delete stapgen_seen }", tapsets));
    CHECK(render::probes_functions("probe kprobe.function(\"f\") { }", tapsets));
    // Where it finds none of them it does without.
    CHECK_FALSE(render::probes_functions("probe stapgen.trace, stapgen.way ? { }", tapsets));
    CHECK_FALSE(render::probes_functions("", tapsets));
}

TEST_CASE("the tracepoints of a script are those of the aliases that it uses, and of no other") {
    const std::vector<render::TapsetFile> tapsets = {
        {"a.stp",
         "probe stapgen.in = kernel.trace(\"net:netif_rx\") !,\n      kernel.trace ( \"netif_receive_skb\" ) { skb = "
         "$skb }\n"
         "probe stapgen.out = kernel.trace(\"net_dev_queue\") {}\n"
         "probe stapgen.call = kprobe.function(\"f.isra.0\") %( kernel_v < \"4.14\" %? , kprobe.function(\"g\") %) {}\n"
         "probe stapgen.any = kernel.trace(\"sched:*\") {}\nprobe stapgen.theirs = scheduler.ctxswitch {}\n"},
        {"m.stpm", "@define stapgen_probe(name) %( kernel.trace(@name) %)\n"}};
    using Names = std::set<std::string>;
    CHECK(render::tracepoints_of("probe stapgen.in, stapgen.call.return ? { print($x.y) }", tapsets) ==
          Names{"netif_receive_skb", "netif_rx"});
    CHECK(render::tracepoints_of("// probe stapgen.out {}\nprobe timer.s(1), end { a.b }", tapsets) == Names{});
    CHECK(render::tracepoints_of("probe kernel.trace(\"kfree_skb\") {}\nprobe stapgen.out {}", tapsets) ==
          Names{"kfree_skb", "net_dev_queue"});
}

TEST_CASE("where a script may trace what its text does not name, its tracepoints are not known") {
    const std::vector<render::TapsetFile> tapsets = {
        {"a.stp", "probe stapgen.any = kernel.trace(\"sched:*\") {}\nprobe stapgen.theirs = scheduler.ctxswitch {}\n"},
        {"m.stpm", "@define stapgen_probe(name) %( kernel.trace(@name) %)\n"}};
    for (const auto* script : {"probe stapgen.any {}", "probe stapgen.theirs {}", "probe @stapgen_probe(\"x\") {}",
                               "probe kernel.trace(\"\") {}", "probe kernel.trace(\"x", "probe kernel.trace(",
                               "probe begin, syscall.read {}", "probe begin,nd_syscall.read.return? {}",
                               "global x probe\tirq_handler.entry"}) {
        CAPTURE(script);
        CHECK_FALSE(render::tracepoints_of(script, tapsets));
    }
    CHECK(render::tracepoints_of("", tapsets));
    CHECK(render::tracepoints_of("probe begin { reprobe = \"", tapsets));
}
