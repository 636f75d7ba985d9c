// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "full_summary.h"
#include "written.h"

using namespace stapgen::rows;

namespace {

std::string csv_of(const std::vector<Summary>& reports, const stapgen::show::Options& options = {}) {
    return written("csv", reports, options);
}

bool has_row(const std::string& text, std::string_view line) {
    return text.find("\n" + std::string(line) + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("CSV has a heading, and a row for each number of a stage") {
    const auto text = csv_of({full_summary()}, {.percentiles = {{"50.0", 50}, {"99.9", 99.9}}});
    CHECK(text.starts_with("report,recipe,kind,name,module,reason,time_ns,pid,comm,other,statistic,value,benign\n"));
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,17,'@x,,n,7,"));
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,17,'@x,,sum_ns,35021,"));
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,17,'@x,,p50.0_ns,5003,"));
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,17,'@x,,p50.0_low_ns,5003,"));
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,17,'@x,,p99.9_high_ns,,"));
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,,,true,n,98,"));
    CHECK(has_row(text, "1,rx-latency,stage,udp-app,,,,,,,mean_ns,,"));
    CHECK(has_row(text, "1,rx-latency,value,epoll_events,,,,,,,sum,111,"));
}

TEST_CASE("no line of CSV ends with a carriage return, which awk would take for a part of the last cell") {
    CHECK(csv_of({full_summary()}).find('\r') == std::string::npos);
}

TEST_CASE("CSV has the account, what was lost, drops and counters") {
    const auto text = csv_of({full_summary()});
    CHECK(has_row(text, "1,rx-latency,account,seen,,,,,,,count,1023,"));
    CHECK(has_row(text, "1,rx-latency,account,unaccounted,,,,,,,count,3,"));
    CHECK(has_row(text, "1,rx-latency,account,closed,,,,,,,count,1,"));
    CHECK(has_row(text, "1,rx-latency,incomplete,no-read,,,,,,,count,3,"));
    CHECK(has_row(text, "1,rx-latency,lost,evicted,,,,,,,count,1,"));
    CHECK(has_row(text, "1,rx-latency,transport,probe_errors,,,,,,,count,11,"));
    CHECK(has_row(text, "1,rx-latency,skipped,return of tcp_recvmsg,,,,,,,count,1,"));
    CHECK(has_row(text, "1,rx-latency,counter,TcpExt.New,,,,,,,count,,"));
    CHECK(has_row(text, "1,rx-latency,drop,icmp_rcv+0x1f,,NO_SOCKET,,,,,count,28,true"));
    CHECK(has_row(text, "1,rx-latency,drop,0xffffffffc0000003,nf_tables,,,,,,count,5,false"));
    CHECK(has_row(text, "1,rx-latency,interval-drop,icmp_rcv+0x1f,,NO_SOCKET,1795180005000000007,,,,count,17,true"));
    CHECK(has_row(text, "1,rx-latency,average,rx,,,,,,,error_ns,503,"));
    CHECK(has_row(text, "1,rx-latency,series,drv-ip,,,1795180003000000000,,,,n,9,"));
    CHECK(has_row(text, "1,rx-latency,value-series,epoll_events,,,1795180000000000000,,,,max,3,"));
}

TEST_CASE("CSV without benign drops says how many there were, and leaves out their rows only") {
    const auto text = csv_of({full_summary()}, {.hide_benign = true});
    CHECK(text.find("icmp_rcv") == std::string::npos);
    CHECK(has_row(text, "1,rx-latency,drops-not-shown,,,,,,,,count,28,true"));
    CHECK(has_row(text, "1,rx-latency,drop,0xffffffffc0000003,nf_tables,,,,,,count,5,false"));
    CHECK(has_row(text, "1,rx-latency,account,seen,,,,,,,count,1023,"));
    CHECK(csv_of({full_summary()}).find("drops-not-shown") == std::string::npos);
}

TEST_CASE("text of the input is no formula to a spreadsheet, and does not break a row") {
    const auto text = csv_of({full_summary()});
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,19550,'=cmd|' /C calc'!A0,,n,503,"));
    CHECK(has_row(text, "1,rx-latency,group-stage,drv-ip,,,,309,\"a\"\"b,\\c\\x0a\\xff\",,n,401,"));
    Summary summary;
    for (const char* name : {"=1", "+1", "-1", "@1", "  =1"}) {
        summary.recipe = name;
        CHECK(has_row(csv_of({summary}), "1,'" + std::string(name) + ",account,seen,,,,count,0,"));
    }
    summary.recipe = "\t=1";
    CHECK(has_row(csv_of({summary}), "1,\\x09=1,account,seen,,,,count,0,"));
}

TEST_CASE("several reports are one table, with the keys of all") {
    Summary other;
    other.recipe = "dropwatch";
    other.stages = {{"rx", {{"dev", "eth0"}}, repeated(7, 3)}};
    const auto text = csv_of({full_summary(), other});
    CHECK(text.find("statistic,value") == text.rfind("statistic,value"));
    CHECK(
        text.starts_with("report,recipe,kind,name,module,reason,time_ns,pid,comm,other,dev,statistic,value,benign\n"));
    CHECK(has_row(text, "2,dropwatch,group-stage,rx,,,,,,,eth0,n,3,"));
    CHECK(csv_of({}) == "report,recipe,kind,name,module,reason,time_ns,statistic,value,benign\n");
}
