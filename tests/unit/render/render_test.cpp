// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

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
    // A parameter's is there where its value is not the default, however that is written.
    mine.parameters.push_back(
        {.name = "slow", .type = recipe::ParameterType::duration, .default_value = "0s", .macro = "SLOW=1"});
    CHECK(render::macros_of(mine, {{"no-parts", "true"}, {"slow", "0ms"}}) ==
          std::vector<std::string>{"STAPGEN_FIELDS=2"});
    CHECK(render::macros_of(mine, {{"no-parts", "true"}, {"slow", "5ms"}}) ==
          std::vector<std::string>{"SLOW=1", "STAPGEN_FIELDS=2"});
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
        {"c.stp",
         "probe stapgen.either = kernel.trace(\"z\") !, kprobe.function(\"g\") !,\n      kprobe.function(\"h\") {}\n"
         "probe stapgen.both = kernel.trace(\"z\"), kprobe.function(\"g\") {}\n"},
        {"m.stpm", "@define stapgen_all(way) %( stapgen.way.@way %)\n"}};
    CHECK_FALSE(render::probes_functions("probe stapgen.trace { print(stapgen_f()) }", tapsets, false));
    CHECK_FALSE(render::probes_functions("// stapgen.function\nprobe begin { }", tapsets, false));
    CHECK(render::probes_functions("probe stapgen.function { }", tapsets, false));
    CHECK(render::probes_functions("probe @stapgen_all(call) { }", tapsets, false));
    // A file that is needed brings its probes along.
    CHECK(render::probes_functions("probe stapgen.trace { delete stapgen_seen }", tapsets, false));
    CHECK(render::probes_functions("probe kprobe.function(\"f\") { }", tapsets, false));
    // Where it finds none of them it does without.
    CHECK_FALSE(render::probes_functions("probe stapgen.trace, stapgen.way ? { }", tapsets, false));
    CHECK_FALSE(render::probes_functions("", tapsets, false));
    // Where the kernel has the tracepoint nothing that follows is asked.
    CHECK_FALSE(render::probes_functions("probe stapgen.either { }", tapsets, false));
    CHECK(render::probes_functions("probe stapgen.either { }", tapsets, true));
    CHECK(render::probes_functions("probe stapgen.both { }", tapsets, false));
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
