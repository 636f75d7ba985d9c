// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/system.h"

namespace stapgen::host {

/// Which counter: its name, and what it is of: "cpu0", "eth0", or "-" for the whole network namespace.
struct CounterId {
    std::string name, of;
    auto operator<=>(const CounterId&) const = default;
};

/// /proc/net/softnet_stat by CPU, snmp, snmp6 and netstat, and those of all network devices. What is no counter but a
/// setting or a state (RFC 1213's Tcp.CurrEstab) is left out; what cannot be read is not there. Counters of one name at
/// one device are added up.
std::map<CounterId, std::uint64_t> read_counters(const System& system);

/// Where read_counters() reads, one line each, for a person.
std::vector<std::string> counter_sources();

/// The lines of a script that counts by how much these counters rise: docs/reference/recording-format.md, with
/// records of name:text, of:text and a count. Each function reads them all once and returns lines without their ends.
class CounterLines {
  public:
    /// `header` is the first line, `tag` its records'.
    CounterLines(const System& system, std::string header, std::string tag)
        : system_(system), header_(std::move(header)), tag_(std::move(tag)) {}

    std::vector<std::string> begin();  ///< the header and "ready"
    std::vector<std::string> tick();   ///< what rose since the last call
    std::vector<std::string> end();

  private:
    std::vector<std::string> rises(const char* kind);
    void note(const std::string& name, const std::string& of, std::uint64_t rise, std::vector<std::string>& lines);

    const System& system_;
    std::string header_, tag_;
    std::map<CounterId, std::uint64_t> last_;
    std::int64_t epoch_ns_ = 0;  ///< of CLOCK_MONOTONIC's 0; as in a script, setting the wall clock changes no time
    std::uint64_t total_ = 0;    ///< of all rises
    std::uint64_t later_ = 0, fallen_ = 0;
};

}  // namespace stapgen::host
