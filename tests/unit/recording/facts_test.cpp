// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/facts.h"

#include <doctest/doctest.h>

using namespace stapgen::recording;

namespace {

std::string_view json_of(const std::string& line) {
    const auto own = parse_own_line(std::string_view(line).substr(0, line.size() - 1));
    REQUIRE(own);
    return own->json;
}

}  // namespace

TEST_CASE("a header is one line, and what it says comes back") {
    Header header;
    header.run_id = "00c0ffee";
    header.part = 3;
    header.lines_before = 1'000'003;
    header.repeated = 2;
    header.start_epoch_ns = 1795180848778419768;
    header.setup.recipe = "rx-latency";
    header.setup.command = {"stapgen", "exec", "a\tb\nc", "--port", "11211"};
    header.setup.parameters.emplace().emplace("max-packets", "17");
    header.setup.filters = {{"port", "11211"}};
    header.setup.recipe_hash = "0011223344556677";
    header.setup.functions = {R"_(kprobe.function("ip_rcv_core"))_"};
    header.setup.definition = "001122334455";
    header.setup.machine = "1dee";
    header.setup.labels = {{"dc", "fra1"}};
    header.setup.hash_of = "module";
    header.setup.sha256 = "abc";
    header.setup.stapgen_version = "0.1.0";
    header.setup.stap_version = "5.1/0.192";
    header.setup.host = "h\xff";
    header.setup.kernel.release = "6.12";
    header.setup.kernel.build_id = "0123";
    header.setup.kernel.architecture = "x86_64";
    header.setup.clocks = {{"time", "CLOCK_MONOTONIC"}};
    header.setup.kernel.text = 0xffffffff81000000;
    header.setup.kernel.stext = 0xffffffff81000007;
    header.setup.kernel.modules = {{"nf_tables", 0xffffffffc0000000, 389120}, {"hidden", std::nullopt, 7}};
    header.setup.drop_reasons = {{3, "NO_SOCKET"}, {-1, "x"}};
    header.setup.counters = {{"Tcp.InSegs", 47}, {"Tcp.MaxConn", -1}};
    header.setup.group_names = {{"netns:4026532201", "red"}};

    const std::string line =
        "recording\t1\t"
        R"({"run":"00c0ffee","part":3,"lines_before":1000003,"repeated":2,"start_epoch_ns":1795180848778419768,)"
        R"("recipe":"rx-latency","command":["stapgen","exec","a\tb\nc","--port","11211"],)"
        R"("parameters":{"max-packets":"17"},"filters":{"port":"11211"},)"
        R"_("recipe_hash":"0011223344556677","functions":["kprobe.function(\"ip_rcv_core\")"],)_"
        R"("definition":"001122334455",)"
        R"("hash_of":"module","sha256":"abc",)"
        R"("stapgen_version":"0.1.0","stap_version":"5.1/0.192",)"
        "\"host\":\"h\xef\xbf\xbd\","
        R"("machine":"1dee","labels":{"dc":"fra1"},)"
        R"("release":"6.12","build_id":"0123","architecture":"x86_64","clocks":{"time":"CLOCK_MONOTONIC"},)"
        R"("symbols":{"_text":"ffffffff81000000","_stext":"ffffffff81000007","_etext":null},)"
        R"("modules":[{"name":"nf_tables","base":"ffffffffc0000000","size":389120},)"
        R"({"name":"hidden","base":null,"size":7}],"drop_reasons":{"-1":"x","3":"NO_SOCKET"},)"
        R"("counters":{"Tcp.InSegs":47,"Tcp.MaxConn":-1},"group_names":{"netns:4026532201":"red"}})"
        "\n";
    CHECK(header_line(header) == line);
    const auto again = parse_header(json_of(line));
    REQUIRE(again);
    CHECK(header_line(*again) == line);
    CHECK(again->setup.kernel.text == 0xffffffff81000000);
    CHECK_FALSE(again->setup.kernel.etext);
    CHECK(again->setup.kernel.modules[0].base == 0xffffffffc0000000);
    CHECK_FALSE(again->setup.kernel.modules[1].base);
    CHECK(again->setup.drop_reasons.at(3) == "NO_SOCKET");
    CHECK(again->setup.counters.at("Tcp.MaxConn") == -1);
    CHECK(again->setup.group_names.at("netns:4026532201") == "red");
    CHECK(again->setup.parameters->at("max-packets") == "17");
    header.setup.parameters.reset();
    CHECK_FALSE(parse_header(json_of(header_line(header)))->setup.parameters);
}

TEST_CASE("a trailer is one line, and what it says comes back") {
    Trailer trailer;
    trailer.end_epoch_ns = 1795180853107670008;
    trailer.continued = true;
    trailer.lines = 1019;
    trailer.outcome.transport.skipped_probes = 3;
    trailer.outcome.transport.skipped_by = {{"tcp_v4_rcv", 2}};
    trailer.outcome.transport.probe_errors = 5;
    trailer.outcome.transport.transport_failures = 7;
    trailer.outcome.transport.enough_buffer_mb = 17;
    trailer.outcome.broke_off = "a table of the script is full (at x.stp:3:1)";
    trailer.outcome.clock_set_ns = -3607000000011;
    trailer.outcome.clock.cycles_per_s = 2100000000.5;
    trailer.outcome.clock.measured_ns = 1009;
    trailer.outcome.clock.cpus = 3;
    trailer.outcome.clock.expected_hits = 4001;
    trailer.outcome.suspended_ns = 13000000019;
    trailer.outcome.counters = {{"TcpExt.ListenDrops", "help", 41}, {"TcpExt.New", "", std::nullopt}};
    trailer.outcome.net_counters = {{"Tcp.InSegs", 53}};
    trailer.outcome.addresses = {{0xffffffff8a13a20a, "__udp4_lib_rcv", 0x5ba, ""},
                                 {0xffffffffc0000011, "nf_hook", 17, "nf"}};

    const std::string line =
        "recording-end\t"
        R"({"end_epoch_ns":1795180853107670008,"continued":true,"lines":1019,"skipped_probes":3,)"
        R"("skipped_by":{"tcp_v4_rcv":2},"probe_errors":5,)"
        R"-("transport_failures":7,"enough_buffer_mb":17,"broke_off":"a table of the script is full (at x.stp:3:1)",)-"
        R"("cost":{"cycles_per_s":2100000000.5,"measured_ns":1009,"cpus":3,"expected_hits":4001},)"
        R"("clock_set_ns":-3607000000011,"suspended_ns":13000000019,)"
        R"("counter_rises":[{"name":"TcpExt.ListenDrops","help":"help","count":41},)"
        R"({"name":"TcpExt.New","help":"","count":null}],"counters":{"Tcp.InSegs":53},)"
        R"("addresses":[{"address":"ffffffff8a13a20a","symbol":"__udp4_lib_rcv","offset":1466,"module":""},)"
        R"({"address":"ffffffffc0000011","symbol":"nf_hook","offset":17,"module":"nf"}]})"
        "\n";
    CHECK(trailer_line(trailer) == line);
    const auto again = parse_trailer(json_of(line));
    REQUIRE(again);
    CHECK(trailer_line(*again) == line);
    CHECK(again->outcome.broke_off == trailer.outcome.broke_off);
    CHECK(again->outcome.clock_set_ns == -3607000000011);
    CHECK(again->outcome.clock.cycles_per_s == 2100000000.5);
    CHECK(again->outcome.clock.expected_hits == 4001);
    CHECK(again->outcome.addresses[1].address == 0xffffffffc0000011);
    CHECK(again->outcome.addresses[1].module == "nf");
    CHECK_FALSE(again->outcome.counters[1].count);
}

TEST_CASE("unknown keys and values of a wrong type are passed over, and what is no object is no header") {
    const auto header = parse_header(R"({"run":7,"part":"x","lines_before":1.5e300,"repeated":18446744073709551615,
        "recipe":"dropwatch","later":{"a":[1]},"command":"one","filters":[1],"modules":[1,{"name":"m","base":5}],
        "symbols":{"_text":"xyz"},"drop_reasons":{"x":"y","3":"NO_SOCKET"},"counters":{"a":"b"}})");
    REQUIRE(header);
    CHECK(header->run_id.empty());
    CHECK(header->part == 0);
    CHECK(header->lines_before == 0);
    CHECK(header->repeated == 0);
    CHECK(header->setup.recipe == "dropwatch");
    CHECK(header->setup.command.empty());
    CHECK(header->setup.kernel.modules.size() == 1);
    CHECK_FALSE(header->setup.kernel.text);
    CHECK(header->setup.drop_reasons.size() == 1);
    for (const char* wrong : {"", "{", "[]", "7", "null", "{\"run\":}", "{\"run\":\"\xff\"}"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_header(wrong));
        CHECK_FALSE(parse_trailer(wrong));
    }
}

TEST_CASE("only a recording's own two lines are taken for them") {
    CHECK(parse_own_line("recording\t1\t{}")->is_header);
    CHECK(parse_own_line("recording\t1\t{}\r")->version == 1);
    CHECK(parse_own_line("recording\t17\t{")->version == 17);
    CHECK_FALSE(parse_own_line("recording-end\t{}")->is_header);
    for (const char* script : {"", "{", "recording", "recording\t", "recording\t{}", "recording\tx\t{}",
                               "recording\t0\t{}", "recording\t1\t2", "recording-end", "recording-end\t1",
                               "recording\t99999999999\t{}", " recording\t1\t{}", "recordings\t1\t{}"}) {
        CAPTURE(script);
        CHECK_FALSE(parse_own_line(script));
    }
}
