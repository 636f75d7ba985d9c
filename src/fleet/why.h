// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.h"
#include "study/why.h"
#include "table/row.h"

/// Which host is slow, and what its packets wait for.
namespace stapgen::fleet {

using table::Separate, table::Known, table::About, table::Shape;

struct HostWhy {
    std::string host;
    std::int64_t n = 0;
    std::optional<std::int64_t> p99_ns;  ///< of the slower direction; nothing: too few packets
    std::string cause;                   ///< the part that has most of the time; empty: no packet was measured
    std::optional<double> cause_share;
    std::string slow_cause;  ///< the part that has most of the slow packets' extra time; empty: there is no tail
    std::optional<double> slow_cause_share;
    std::string differs_in{};  ///< "ip-tcp p50 +752 %": how it differs from hosts like it; empty: it does not

    static constexpr About about{.name = "hosts"};
    static constexpr void columns(auto&& column) {
        column(Separate(), "host", &HostWhy::host);
        column(Separate(), "n", &HostWhy::n);
        column(Separate(), "p99_ns", &HostWhy::p99_ns);
        column(Separate(), Known("cause"), &HostWhy::cause);
        column(Separate(), table::Share("cause_share"), &HostWhy::cause_share);
        column(Separate(), Known("slow_cause"), &HostWhy::slow_cause);
        column(Separate(), table::Share("slow_cause_share"), &HostWhy::slow_cause_share);
        column(Separate(), Known("difference"), &HostWhy::differs_in);
    }
};
HostWhy why_of(const std::string& host, const study::Why& why, const rows::Results& results);

struct Whys {
    std::string recipe;
    std::string noun = study::Why().noun;  ///< what waited; no document has it
    std::string sentence;                  ///< which hosts are different from the others, and how
    std::vector<HostWhy> hosts;            ///< those that differ first, then the largest p99
    std::vector<std::string> warnings;

    static constexpr About about{.name = "whys", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Separate(), "recipe", &Whys::recipe);
        column(Separate(), "sentence", &Whys::sentence);
        column(Separate(), "hosts", &Whys::hosts);
        column(Separate(), "warnings", &Whys::warnings);
    }
};

/// Puts the worst first.
void sort_hosts(Whys& whys);

/// The first `most` rows.
void write_text(std::ostream& out, const Whys& whys, std::size_t most, const base::Screen& screen = {});
/// "stapgen.fleet-why/1".
void write_json(std::ostream& out, const Whys& whys);
void write_csv(std::ostream& out, const Whys& whys);

}  // namespace stapgen::fleet
