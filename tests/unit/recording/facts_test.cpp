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

TEST_CASE("a head is one line, and what it says comes back") {
    Head head;
    head.run_id = "00c0ffee";
    head.part = 3;
    head.lines_before = 1'000'003;
    head.repeated = 2;
    head.start_epoch_ns = 1795180848778419768;
    head.recipe = "rx-latency";
    head.command = {"stapgen", "exec", "a\tb\nc", "--port", "11211"};
    head.parameters.emplace().emplace("max-packets", "17");
    head.filters = {{"port", "11211"}};
    head.hash_of = "module";
    head.sha256 = "abc";
    head.stapgen_version = "0.1.0";
    head.stap_version = "5.1/0.192";
    head.host = "h\xff";
    head.release = "6.12";
    head.build_id = "0123";
    head.architecture = "x86_64";
    head.clocks = {{"time", "CLOCK_MONOTONIC"}};
    head.text = 0xffffffff81000000;
    head.stext = 0xffffffff81000007;
    head.modules = {{"nf_tables", 0xffffffffc0000000, 389120}, {"hidden", std::nullopt, 7}};
    head.drop_reasons = {{3, "NO_SOCKET"}, {-1, "x"}};
    head.counters = {{"Tcp.InSegs", 47}, {"Tcp.MaxConn", -1}};

    const std::string line =
        "recording\t1\t"
        R"({"run":"00c0ffee","part":3,"lines_before":1000003,"repeated":2,"start_epoch_ns":1795180848778419768,)"
        R"("recipe":"rx-latency","command":["stapgen","exec","a\tb\nc","--port","11211"],)"
        R"("parameters":{"max-packets":"17"},"filters":{"port":"11211"},"hash_of":"module","sha256":"abc",)"
        R"("stapgen_version":"0.1.0","stap_version":"5.1/0.192",)"
        "\"host\":\"h\xef\xbf\xbd\","
        R"("release":"6.12","build_id":"0123","architecture":"x86_64","clocks":{"time":"CLOCK_MONOTONIC"},)"
        R"("symbols":{"_text":"ffffffff81000000","_stext":"ffffffff81000007","_etext":null},)"
        R"("modules":[{"name":"nf_tables","base":"ffffffffc0000000","size":389120},)"
        R"({"name":"hidden","base":null,"size":7}],"drop_reasons":{"-1":"x","3":"NO_SOCKET"},)"
        R"("counters":{"Tcp.InSegs":47,"Tcp.MaxConn":-1}})"
        "\n";
    CHECK(head_line(head) == line);
    const auto again = parse_head(json_of(line));
    REQUIRE(again);
    CHECK(head_line(*again) == line);
    CHECK(again->text == 0xffffffff81000000);
    CHECK_FALSE(again->etext);
    CHECK(again->modules[0].base == 0xffffffffc0000000);
    CHECK_FALSE(again->modules[1].base);
    CHECK(again->drop_reasons.at(3) == "NO_SOCKET");
    CHECK(again->counters.at("Tcp.MaxConn") == -1);
    CHECK(again->parameters->at("max-packets") == "17");
    head.parameters.reset();
    CHECK_FALSE(parse_head(json_of(head_line(head)))->parameters);
}

TEST_CASE("a tail is one line, and what it says comes back") {
    Tail tail;
    tail.end_epoch_ns = 1795180853107670008;
    tail.continued = true;
    tail.lines = 1019;
    tail.skipped_probes = 3;
    tail.skipped_by = {{"tcp_v4_rcv", 2}};
    tail.probe_errors = 5;
    tail.transport_failures = 7;
    tail.enough_buffer_mb = 17;
    tail.broke_off = "a table of the script is full (at x.stp:3:1)";
    tail.clock_set_ns = -3607000000011;
    tail.cycles_per_s = 2100000000.5;
    tail.measured_ns = 1009;
    tail.cpus = 3;
    tail.expected_hits = 4001;
    tail.suspended_ns = 13000000019;
    tail.counter_rises = {{"TcpExt.ListenDrops", "help", 41}, {"TcpExt.New", "", std::nullopt}};
    tail.counters = {{"Tcp.InSegs", 53}};
    tail.addresses = {{0xffffffff8a13a20a, "__udp4_lib_rcv", 0x5ba, ""}, {0xffffffffc0000011, "nf_hook", 17, "nf"}};

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
    CHECK(tail_line(tail) == line);
    const auto again = parse_tail(json_of(line));
    REQUIRE(again);
    CHECK(tail_line(*again) == line);
    CHECK(again->broke_off == tail.broke_off);
    CHECK(again->clock_set_ns == -3607000000011);
    CHECK(again->cycles_per_s == 2100000000.5);
    CHECK(again->expected_hits == 4001);
    CHECK(again->addresses[1].address == 0xffffffffc0000011);
    CHECK(again->addresses[1].module == "nf");
    CHECK_FALSE(again->counter_rises[1].count);
}

TEST_CASE("unknown keys and values of a wrong type are passed over, and what is no object is no head") {
    const auto head = parse_head(R"({"run":7,"part":"x","lines_before":1.5e300,"repeated":18446744073709551615,
        "recipe":"dropwatch","later":{"a":[1]},"command":"one","filters":[1],"modules":[1,{"name":"m","base":5}],
        "symbols":{"_text":"xyz"},"drop_reasons":{"x":"y","3":"NO_SOCKET"},"counters":{"a":"b"}})");
    REQUIRE(head);
    CHECK(head->run_id.empty());
    CHECK(head->part == 0);
    CHECK(head->lines_before == 0);
    CHECK(head->repeated == 0);
    CHECK(head->recipe == "dropwatch");
    CHECK(head->command.empty());
    CHECK(head->modules.size() == 1);
    CHECK_FALSE(head->text);
    CHECK(head->drop_reasons.size() == 1);
    for (const char* wrong : {"", "{", "[]", "7", "null", "{\"run\":}", "{\"run\":\"\xff\"}"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_head(wrong));
        CHECK_FALSE(parse_tail(wrong));
    }
}

TEST_CASE("only a recording's own two lines are taken for them") {
    CHECK(parse_own_line("recording\t1\t{}")->is_head);
    CHECK(parse_own_line("recording\t1\t{}\r")->version == 1);
    CHECK(parse_own_line("recording\t17\t{")->version == 17);
    CHECK_FALSE(parse_own_line("recording-end\t{}")->is_head);
    for (const char* script : {"", "{", "recording", "recording\t", "recording\t{}", "recording\tx\t{}",
                               "recording\t0\t{}", "recording\t1\t2", "recording-end", "recording-end\t1",
                               "recording\t99999999999\t{}", " recording\t1\t{}", "recordings\t1\t{}"}) {
        CAPTURE(script);
        CHECK_FALSE(parse_own_line(script));
    }
}
