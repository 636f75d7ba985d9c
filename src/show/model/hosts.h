// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rows/results.h"
#include "show/model/table.h"

/// Many hosts beside each other.
namespace stapgen::show {

struct HostRow : rows::Host {
    std::map<std::string, table::Histogram> stages;  ///< "total", "rx total" and each one; drops have none
    std::int64_t resolution_ns = 1;

    /// Of Hosts, which have one stage at most.
    [[nodiscard]] std::optional<std::int64_t> percentile(double percent) const {
        return stages.empty() ? std::nullopt : stages.begin()->second.percentile(percent);
    }
};

HostRow host_row(const std::string& host, const rows::Results& results);

struct Hosts {
    /// Of the stages that one is kept in which a host differs, else the total that is slowest on some host: all rows
    /// are of the same.
    Hosts(std::vector<HostRow> all, std::string missing_hosts, std::string verdict_of_all = {});

    std::vector<HostRow> rows;  ///< those that differ first, then the largest p99
    std::string stage;          ///< "total", "rx total", "ip-tcp"; empty: there are no durations
    std::string missing;        ///< which ones did not measure to the end, as a sentence; empty: all did
    std::string verdict;        ///< which ones differ, as a sentence; empty: none does
};

/// The first `most` rows.
Table hosts_table(const Hosts& hosts, std::size_t most);
/// "6.12.9, n 504, p99 148 us, lost 0".
std::string host_text(const HostRow& row);

}  // namespace stapgen::show
