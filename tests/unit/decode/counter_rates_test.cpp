// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <string>

#include "decode/calendar.h"
#include "decode/sample_clock.h"
#include "decoded_text.h"

using namespace stapgen::decode;

namespace {

const std::string columns =
    "IFACE   rxerr/s   txerr/s    coll/s  rxdrop/s  txdrop/s  txcarr/s  rxfram/s  rxfifo/s  txfifo/s\n";

/// A row of eth0 with these packets dropped per second.
std::string row(const std::string& time, const std::string& dropped, const std::string& device = "eth0") {
    return time + "         " + device + "      0.00      0.00      0.00      " + dropped +
           "      0.00      0.00      0.00      0.00      0.00\n";
}

std::string heading(const std::string& time) {
    return time + "        " + columns;
}

/// What all rows of a device and counter came to.
std::int64_t sum(const DecodedText& decoded, const std::string& counter = "dev.rx_drop of eth0") {
    std::int64_t all = 0;
    for (const auto& line : decoded.lines) {
        const auto at = line.find(counter + " = ");
        if (at != line.npos) all += std::stoll(line.substr(at + counter.size() + 3));
    }
    return all;
}

}  // namespace

TEST_CASE("sar -n EDEV: each rate times its sample's seconds, named as in /proc/net/dev") {
    const DecodedText decoded(read_text("counters-sar.txt"));
    CHECK(decoded.detector.input().unrecognised == 0);
    // Two devices, nine counters, three samples; of averages none.
    CHECK(readings(decoded) == 2 * 9 * 3);
    for (const auto* line :
         {"sar -n0 dev.rx_errs of ens1f0 = 3 part rise in 10 s", "sar -n0 dev.tx_errs of ens1f0 = 5 part rise in 10 s",
          "sar -n0 dev.tx_colls of ens1f0 = 7 part rise in 10 s",
          "sar -n0 dev.rx_drop of ens1f0 = 1117 part rise in 10 s",
          "sar -n0 dev.tx_drop of ens1f0 = 13 part rise in 10 s",
          "sar -n0 dev.tx_carrier of ens1f0 = 17 part rise in 10 s",
          "sar -n0 dev.rx_frame of ens1f0 = 19 part rise in 10 s",
          "sar -n0 dev.rx_fifo of ens1f0 = 23 part rise in 10 s",
          "sar -n0 dev.tx_fifo of ens1f0 = 29 part rise in 10 s", "sar -n0 dev.rx_drop of lo = 0 part rise in 11 s"}) {
        CAPTURE(line);
        CHECK(has_line(decoded, line));
    }
    // The second sample is 11 s, over midnight.
    CHECK(sum(decoded, "dev.rx_drop of ens1f0") == 1117 + 31);
    CHECK(
        decoded.notes() ==
        "sar prints rates with two decimals: what rose is each times the seconds of its sample, and may be off by 3 in "
        "10 minutes");
}

TEST_CASE("sar: clocks of 12 hours, commas, CRLF, old columns, tables of traffic between, devices last") {
    const std::string first = "Linux 2.6.18-194.el5 (db3.example.com) \t06/15/2010\n\n";
    const DecodedText twelve(first + heading("11:59:51 AM") + row("12:00:01 PM", "1.70") +
                             row("12:00:01 PM", "0.00", "lo") + "\n" + heading("12:00:01 PM") +
                             row("12:00:11 PM", "0.60"));
    CHECK(twelve.detector.input().unrecognised == 0);
    CHECK(sum(twelve) == 17 + 6);
    // A German one, from Windows.
    std::string german =
        heading("11:59:51") + row("12:00:01", "1.70") + heading("Durchschn.:") + row("Durchschn.:", "1.70");
    std::ranges::replace(german, '.', ',');
    for (auto at = german.find(",:"); at != german.npos; at = german.find(",:"))
        german[at] = '.';
    for (auto at = german.find('\n'); at != german.npos; at = german.find('\n', at + 2))
        german.insert(at, "\r");
    const DecodedText commas(german);
    CHECK(commas.detector.input().unrecognised == 0);
    CHECK(sum(commas) == 17);
    CHECK(sum(DecodedText(heading("11:59:51") + row("12:00:01", "1.70") + heading("Moyenne :") +
                          row("Moyenne :", "1.70"))) == 17);
    const std::string traffic = "IFACE   rxpck/s   txpck/s   rxbyt/s   txbyt/s   rxcmp/s   txcmp/s  rxmcst/s\n",
                      newer = "IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n";
    const DecodedText both(
        "# sar -n DEV,EDEV 10 1\n10:00:01 " + traffic +
        "10:00:11 eth0    133.10    116.50  43436.76  21702.20      0.00      0.00      0.20\n" + heading("10:00:01") +
        row("10:00:11", "1.70") + "10:00:11 " + newer +
        "10:00:21 eth0    100.00      0.00   1436.76     21.20      0.00      0.00      0.00      0.01\n" +
        heading("10:00:11") + row("10:00:21", "0.50"));
    CHECK(both.detector.input().unrecognised == 0);
    CHECK(sum(both) == 17 + 5);
    CHECK(sum(both, "dev.rx_packets of eth0") == 1331 + 1000);
    CHECK(has_line(both, "sar -n0 dev.rx_multicast of eth0 = 2 part rise in 10 s"));
    // sar --pretty
    const DecodedText pretty(
        "10:00:01   rxerr/s   txerr/s    coll/s  rxdrop/s  txdrop/s  txcarr/s  rxfram/s  rxfifo/s  txfifo/s IFACE\n"
        "10:00:11      0.00      0.00      0.00      1.70      0.00      0.00      0.00      0.00      0.00 eth0\n");
    CHECK(sum(pretty) == 17);
}

TEST_CASE("sar -f: rows follow each other below one heading, and a restart begins anew") {
    const DecodedText day(heading("00:00:01") + row("00:10:01", "0.10") + row("00:20:04", "0.02") +
                          row("00:30:01", "0.00") + "\n00:34:17       LINUX RESTART\t(4 CPU)\n\n" +
                          heading("00:40:01") + row("00:50:01", "1.00"));
    CHECK(day.detector.input().unrecognised == 0);
    CHECK(sum(day) == 60 + 12 + 600);
}

TEST_CASE("sar: of rows that grep has left the samples are known only where rows follow each other evenly") {
    const DecodedText rows(row("10:00:11", "1.00") + row("10:00:21", "2.00") + row("10:00:31", "0.30") +
                           row("10:00:41", "0.40"));
    CHECK(rows.detector.input().unrecognised == 0);
    CHECK(sum(rows) == 3 + 4);
    CHECK(rows.notes().find("2 rows of sar are left out, as dev.rx_drop of eth0 with 1.00 per s: how long the sample "
                            "was is not known") != std::string::npos);
    // Without the rows of zeros; one row of a day; hours of which nobody knows how often there was a sample.
    for (const auto& some :
         {row("10:00:11", "1.00") + row("10:00:21", "2.00") + row("10:03:11", "4.00") + row("10:07:41", "4.00"),
          heading("00:00:01") + row("04:00:01", "5.00") + heading("Average:") + row("Average:", "0.03"),
          heading("00:00:01") + row("01:00:01", "5.00") + row("02:00:01", "5.00") + row("03:00:01", "5.00"),
          heading("10:00:01") + row("10:00:01", "5.00"), heading("10:00:01") + row("09:59:58", "5.00"),
          row("10:00:11", "5.00"), row("10:00:11", "5.00") + row("10:00:12", "5.00")}) {
        CAPTURE(some);
        const DecodedText decoded(some);
        CHECK(readings(decoded) == 0);
        CHECK(decoded.lines.at(0) == "header softnet");
        CHECK(decoded.notes().find("left out") != std::string::npos);
    }
    // A sample that was not taken, and the hour that a clock leaves out in spring.
    CHECK(sum(DecodedText(heading("01:40:01") + row("01:50:01", "1.00") + row("03:00:01", "1.00") +
                          row("03:10:01", "1.00") + row("03:30:01", "1.00"))) == 600 + 600);
    // Other tools' rows of a CPU have as many numbers: mpstat of sysstat 9.
    CHECK(DecodedText(row("10:00:11", "5.00", "all") + row("10:00:11", "5.00", "0")).detector.input().unrecognised ==
          2);
}

TEST_CASE("sar: averages are no counts, and none is counted for their sake") {
    const DecodedText averages(heading("Average:") + row("Average:", "17.83") + row("Average:", "0.00", "lo"));
    CHECK(averages.detector.input().unrecognised == 0);
    CHECK(readings(averages) == 0);
    CHECK(averages.lines.at(0) == "header softnet");
    CHECK(
        averages.notes() ==
        "averages of sar do not say how long they are of, as dev.rx_drop of eth0 with 17.83 per s: how many these are "
        "is not known; include the rows above them");
    CHECK(DecodedText(row("Average:", "17.83")).notes() == averages.notes());
}

TEST_CASE("sar: the same samples twice in a text count once") {
    const std::string first = "Linux 6.1.0-21-amd64 (n1) \t10/15/2024 \t_x86_64_\t(4 CPU)\n",
                      table = heading("10:00:01") + row("10:00:11", "1.70") + row("10:00:21", "0.30") +
                              heading("Average:") + row("Average:", "1.00");
    const auto bare = row("10:00:01", "0.10") + row("10:00:11", "1.70") + row("10:00:21", "0.30");
    for (const auto& twice : {table + table, first + table + first + table, table + bare, first + bare + table,
                              "$ sar -n EDEV\n" + first + table + "$ sar -n EDEV | grep eth0\n" + bare,
                              "$ sar -n EDEV | grep eth0\n" + bare + "$ sar -n EDEV\n" + first + table}) {
        CAPTURE(twice);
        const DecodedText decoded(twice);
        CHECK(sum(decoded) == 20);
        CHECK(decoded.notes().find("their time is counted before") != std::string::npos);
    }
    // Another day, another host.
    auto later = first, other = first;
    later.replace(later.find("10/15"), 5, "10/16");
    other.replace(other.find("n1"), 2, "n2");
    CHECK(sum(DecodedText(first + table + later + table)) == 40);
    const DecodedText hosts(first + table + other + table);
    CHECK(sum(hosts) == 20);
    CHECK(sum(hosts, "dev.rx_drop of eth0 on n2") == 20);
    CHECK(hosts.counter_sources == std::vector<std::string>{"host n1", "host n2"});
    // Past midnight the clock of a run goes on.
    const DecodedText night(first + heading("23:59:51") + row("00:00:01", "1.00") + heading("00:00:01") +
                            row("00:00:11", "1.00"));
    CHECK(sum(night) == 20);
}

TEST_CASE("sar: lines that a terminal has broken, other precisions and other tables are not read") {
    const auto broken = [](std::string text, std::size_t width) {
        for (std::size_t at = width; at < text.size(); at += width + 1)
            text.insert(at, "\n");
        return text;
    };
    for (const auto& none :
         {broken(heading("10:00:01"), 80) + broken(row("10:00:11", "1.70"), 80),
          heading("10:00:01") + row("10:00:11", "1.7"), heading("10:00:01") + row("10:00:11", "17"),
          heading("10:00:01") + row("10:00:11", "-1.70"), heading("10:00:01") + row("10:00:11", "nan"),
          heading("10:00:01") + row("yesterday", "1.70"),
          heading("10:00:01") + row("10:00:11", "99999999999999999999.00"),
          heading("10:00:01") + "10:00:01 CPU %user %nice %system %iowait %steal %idle\n" +
              row("10:00:11", "1.70", "all"),
          std::string("10:00:01 IFACE rxerr/s misses/s\n10:00:11 eth0 1.70 0.00\n")}) {
        CAPTURE(none);
        const DecodedText decoded(none);
        CHECK(readings(decoded) == 0);
        CHECK(decoded.detector.input().unrecognised > 0);
    }
    // Broken between columns, what is whole is right.
    const DecodedText half(
        "10:00:01 IFACE   rxerr/s   txerr/s    coll/s  rxdrop/s\n"
        "10:00:11 eth0      0.00      0.00      0.00      1.70\n");
    CHECK(sum(half) == 17);
}

TEST_CASE("a clock of samples knows what lies between two times of day") {
    constexpr std::int64_t hour = 3600;
    SampleClock clock;
    clock.begin(24 * hour - 9);
    CHECK(clock.length(1) == 10);
    CHECK(clock.length(1) == 10);  // another device
    CHECK(clock.now() == 24 * hour + 1);
    CHECK(clock.length(12) == 11);
    CHECK_FALSE(clock.length(12 + 13));
    CHECK(clock.length(12 + 13 + 10) == 10);
    CHECK_FALSE(clock.length(20));  // it was set
    CHECK_FALSE(clock.length(20));
    CHECK(read_time_of_day("12:00:01 AM") == 1);
    CHECK(read_time_of_day("11:59:59 PM IST") == 24 * hour - 1);
    CHECK(read_time_of_day("15:02:01") == 15 * hour + 121);
    for (const auto* none : {"", "AM", "15:02:01 PM", "15:02", "2024-10-15 15:02:01", "15:02:01 UTC", "15:02:01 x"})
        CHECK_FALSE(read_time_of_day(none));
}
