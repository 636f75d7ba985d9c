// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bundle/evidence.h"
#include "recipe/recipe.h"

namespace stapgen::bundle {

/// Consequences for packets. Worst first.
enum class Severity { lost, late, setting };
/// As the table and reports have it.
std::string_view name_of(Severity severity);

/// A row of findings.toml: what in an archive points to lost or late packets.
struct Rule {
    std::string name;  ///< "listen-overflow"
    Severity severity = Severity::lost;
    std::string means, advice, command;  ///< the recipe that shows more on the live host; may be empty
    std::vector<std::string> counters;   ///< patterns, '*' is anything: the sum counts
    std::vector<std::string> never;      ///< patterns of counters that are none of these
    std::vector<std::string> of;         ///< the same, added up: `counters` are a share of them
    double least_percent = 0;            ///< of that share; below it nothing is said
    std::int64_t least = 1;              ///< of the sum
    std::vector<std::string> logs;       ///< texts in lines of logs
    std::string full, limit;             ///< settings: the one is at the other, its '*' the same text in both
    bool above = false;                  ///< it is full above the limit, not at it
    std::string near;                    ///< what is said from 90 % on where nothing else of it is known
    std::vector<std::string> beside;     ///< patterns of settings that are shown, of devices whose counters are
};

/// One counter, setting or text of logs that was seen.
struct Seen {
    std::string what;  ///< "TcpExt.ListenOverflows", "link.rx_dropped of eth0"
    Place place;
    std::uint64_t value = 0;
    std::string text{};     ///< of a log: its first line
    std::string counter{};  ///< its name, and what it is of
    std::string of{};

    static constexpr About about{.name = "evidence"};
    static constexpr void columns(auto&& column) {
        column(Key(), "what", [](const Seen& row) { return base::printable(row.what); });
        column(Separate(), "value", &Seen::value);
        column(Key(), "file", [](const Seen& row) { return row.place.path(); });
        column(Key(), "line", [](const Seen& row) { return row.place.line; });
        column(Separate(), Known("text"), &Seen::text);
    }
};

struct Finding {
    const Rule* rule = nullptr;
    Severity severity = Severity::lost;
    bool now = false;                    ///< something is full
    std::string_view means{};            ///< of the rule
    std::uint64_t sum = 0;               ///< of its largest counter, since boot, or how far that rose
    std::optional<double> percent{};     ///< of `percent_of`
    std::string percent_of{};            ///< counters or a setting
    std::vector<Seen> seen{};            ///< what is full first, then the largest
    std::optional<std::int64_t> more{};  ///< what was seen and is left out

    static constexpr About about{.name = "findings"};
    static constexpr void columns(auto&& column) {
        column(Key(), "name", [](const Finding& row) { return row.rule->name; });
        column(Separate(), "severity", &Finding::severity);
        column(Separate(), "now", &Finding::now);
        column(Separate(), "means", &Finding::means);
        column(Separate(), "advice", [](const Finding& row) { return row.rule->advice; });
        column(Separate(), Known("command"), [](const Finding& row) { return row.rule->command; });
        column(Separate(), "count", &Finding::sum);
        column(Separate(), "percent", &Finding::percent);
        column(Separate(), Known("percent_of"), [](const Finding& row) { return base::printable(row.percent_of); });
        column(Separate(), "evidence", &Finding::seen);
        column(Separate(), "more", &Finding::more, Shown{.is_rare = true});
    }
};

/// A counter of losses that no finding has.
struct Loss {
    std::string counter;
    std::string_view meaning;  ///< as the recipe softnet has it
    bool by_name = false;      ///< its name says that it is one, and nobody has looked it up
    std::uint64_t sum = 0;
    std::vector<Seen> seen{};  ///< of each device or CPU, the largest first
    std::optional<std::int64_t> more{};

    static constexpr About about{.name = "losses"};
    static constexpr void columns(auto&& column) {
        column(Key(), "counter", [](const Loss& row) { return base::printable(row.counter); });
        column(Separate(), "by_name", &Loss::by_name);
        column(Separate(), "meaning", &Loss::meaning);
        column(Separate(), "count", &Loss::sum);
        column(Separate(), "evidence", &Loss::seen);
        column(Separate(), "more", &Loss::more, Shown{.is_rare = true});
    }
};

/// Reads findings.toml. Errors (bad_input), with line and column.
base::Result<std::vector<Rule>> read_rules(const std::filesystem::path& file);

/// Texts that the rules look for in logs.
std::vector<std::string> texts_of(const std::vector<Rule>& rules);

/// A counter of the kernel that is lower in a later archive, with its values: "Udp.InDatagrams, 900 and 100". The
/// archives are of two hosts, or it was booted between them. Empty: there is none.
std::string fallen_counter(const Evidence& before, const Evidence& later);

/// Findings by the rules, worst first: what is full now, then by severity and number. `before` may be null: an earlier
/// archive of the same host; then counters count by how far they rose since.
std::vector<Finding> findings_of(const std::vector<Rule>& rules, const Evidence& evidence, const Evidence* before);

/// Other counters of losses by the meanings of `counters`, the recipe softnet: those by name last, and the largest
/// first.
std::vector<Loss> other_losses(const recipe::Recipe& counters, const std::vector<Finding>& findings,
                               const Evidence& evidence, const Evidence* before);

}  // namespace stapgen::bundle
