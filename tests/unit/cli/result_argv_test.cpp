// SPDX-License-Identifier: GPL-2.0-or-later
#include "argv.h"

using namespace stapgen;
using test::CommandLine;

TEST_CASE("report takes files, how they are shown and where names come from") {
    test::check<cli::ReportOptions>(
        "stapgen report",
        {{"report a.rec -",
          [](const cli::ReportOptions& o) {
              return o.files == std::vector<std::string>{"a.rec", "-"};
          }},
         {"report a --map m --map n --modules p -r 6.1 --by host,cpu --format html",
          [](const cli::ReportOptions& o) {
              return o.files == std::vector<std::string>{"a"} &&
                     o.names.files == std::vector<std::filesystem::path>{"m", "n"} && o.names.modules == "p" &&
                     o.names.release == "6.1" && o.present.by == "host,cpu" && o.present.format == "html";
          }},
         {"report --kaslr-offset 1c a", [](const cli::ReportOptions& o) { return o.names.kaslr_offset == 0x1c; }},
         {"report --slide 1c a", [](const cli::ReportOptions& o) { return o.names.kaslr_offset == 0x1c; }},
         {"report", [](const cli::ReportOptions& o) { return o.files.empty() && !o.names.fetch; }},
         {"report --fetch a", [](const cli::ReportOptions& o) { return o.names.fetch && o.names.empty(); }},
         {"report a --port 443 --addr 10.0.0.0/8 --since 90s --until 14:05 --events -o b",
          [](const cli::ReportOptions& o) {
              const auto& selection = o.replay.selection;
              return selection.port == 443 && selection.address->text() == "10.0.0.0/8" && selection.since &&
                     selection.until && o.replay.events && o.output == "b" &&
                     selection.options == "--port 443 --addr 10.0.0.0/8 --since 90s --until 14:05";
          }},
         {"report -- -a", [](const cli::ReportOptions& o) { return o.files == std::vector<std::string>{"-a"}; }}});
    test::check({
        {"report a --port 65536", "--port: '65536' is not a port", "1 to 65535"},
        {"report a --addr web1", "--addr: 'web1' is not an address"},
        {"report a --since soon", "--since: 'soon' is not a time", "90s or 5m after the start"},
        {"report --by= a", "--by= has no value"},
        {"report a --slowest 1001", "--slowest: '1001' is not a whole number, 0 to 1000"},
    });
}

TEST_CASE("groups are split into those of records and those of where they are from") {
    const CommandLine line("report --by host,cpu,process a");
    const auto presentation = cli::presentation_of(line.options<cli::ReportOptions>().present);
    REQUIRE(presentation);
    CHECK(presentation->by_origin == std::vector<std::string>{"host"});
    CHECK(presentation->by == std::vector<std::string>{"cpu", "pid", "comm"});
}

TEST_CASE("labels are origins, too, where they can be labels") {
    const auto presentation =
        cli::presentation_of(CommandLine("report --by label:dc,host a").options<cli::ReportOptions>().present);
    REQUIRE(presentation);
    CHECK(presentation->by_origin == std::vector<std::string>{"label:dc", "host"});
    CHECK(presentation->by->empty());
    for (const auto* wrong : {"report --by label: a", "report --by label:9 a", "report --by host,label:a=b c"}) {
        CAPTURE(wrong);
        CHECK_FALSE(cli::presentation_of(CommandLine(wrong).options<cli::ReportOptions>().present));
    }
    const CommandLine compare("compare --by host,label:a=b c d");
    CHECK_FALSE(cli::presentation_of(compare.options<cli::CompareOptions>().present));
}

TEST_CASE("a KASLR offset is a hex number, also below zero") {
    const auto offset_of = [](std::string_view typed) {
        return CommandLine(typed).options<cli::ResolveOptions>().names.kaslr_offset;
    };
    CHECK(offset_of("resolve --kaslr-offset 0x1c") == 0x1c);
    CHECK(offset_of("resolve --kaslr-offset=-1c") == -0x1c);
}

TEST_CASE("compare takes two sides and a threshold") {
    test::check<cli::CompareOptions>(
        "stapgen compare",
        {{"compare a b",
          [](const cli::CompareOptions& o) { return o.before == "a" && o.after == "b" && o.threshold == 0.05; }},
         {"compare a,b c --threshold 10% -P 50 -j", [](const cli::CompareOptions& o) {
              return o.before == "a,b" && o.after == "c" && o.threshold == 0.1 &&
                     o.present.shown.percentiles.size() == 1 && o.present.format == "json";
          }}});
    test::check({
        {"compare", "BEFORE is missing"},
        {"compare a", "AFTER is missing"},
        {"compare a b c", "unexpected argument 'c'"},
        {"compare a b --format perfetto", "--format: 'perfetto' is not one of table, json, ndjson, csv, html"},
    });
}

TEST_CASE("resolve takes addresses, and what they are") {
    test::check<cli::ResolveOptions>(
        "stapgen resolve",
        {{"resolve", [](const cli::ResolveOptions& o) { return o.words.empty() && o.format == "table"; }},
         {"resolve -l --drop-sites --recording r ff 0x1 -j",
          [](const cli::ResolveOptions& o) {
              return o.lines && o.drop_sites && o.recording == "r" && o.format == "ndjson" &&
                     o.words == std::vector<std::string>{"ff", "0x1"};
          }},
         {"resolve --annotate --return-addresses a.txt",
          [](const cli::ResolveOptions& o) { return o.annotate && o.return_addresses; }}});
    test::check({
        {"resolve --annotate -l", "use --annotate or --lines, not both"},
        {"resolve --format json", "--format: 'json' is not one of table, ndjson"},
    });
}
