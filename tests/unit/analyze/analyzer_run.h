// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <fmt/format.h>

#include <string>

#include "analyze/analyzer.h"
#include "base/text.h"
#include "decode/record_parser.h"
#include "unit/rows.h"

namespace analyzer_run {

using namespace stapgen::analyze;
using namespace stapgen::summaries;
using stapgen::decode::RecordParser;

inline constexpr std::string_view rx_header =
    "stapgen\t1\trx-latency\trx\ttime:time\tpid:int\tcomm:text\tdrv-ip:stage\tip-tcp:stage\n";
inline constexpr std::string_view drop_header =
    "stapgen\t1\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\n";
inline constexpr std::string_view ready = "ready\t1795180000000000000\t5000000000000\n";

/// Parser and analyzer together, fed with whole lines.
struct Run {
    RecordParser parser;
    std::optional<Analyzer> analyzer;
    stapgen::kinds::Settings options;

    explicit Run(std::string_view text, stapgen::kinds::Settings with = {}) : options(std::move(with)) { feed(text); }

    void feed(std::string_view text) {
        for (const auto line : stapgen::base::split(text.substr(0, text.size() - 1), '\n')) {
            const auto parsed = parser.feed(line);
            if (!analyzer && parser.header()) analyzer = Analyzer::create(*parser.header(), options).value();
            if (analyzer) analyzer->add(parsed);
        }
    }
    [[nodiscard]] Summary summary() const { return stapgen::summaries::summary_of(analyzer->measured()); }
};

inline std::string rx(int pid, std::string_view comm, std::string_view drv_ip, std::string_view ip_tcp = "-") {
    return fmt::format("rx\t5000000001009\t{}\t{}\t{}\t{}\n", pid, comm, drv_ip, ip_tcp);
}

inline std::int64_t count_of(const std::vector<Cause>& causes, std::string_view name) {
    for (const auto& cause : causes) {
        if (cause.name == name) return cause.count;
    }
    return -1;
}

}  // namespace analyzer_run
