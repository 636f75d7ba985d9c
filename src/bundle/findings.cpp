// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/kernel.h"
#include "base/text.h"
#include "base/toml_table.h"
#include "base/units.h"
#include "recipe/catalog.h"

namespace stapgen::bundle {

namespace {

constexpr double near_percent = 90;
constexpr std::array severities{Severity::lost, Severity::late, Severity::setting};

bool fits(const std::vector<std::string>& patterns, std::string_view name) {
    return std::ranges::any_of(patterns, [&](const auto& pattern) { return base::match(pattern, name).has_value(); });
}

/// Those that rose, with how far, in the order of their names.
std::vector<Seen> counters_of(const std::function<bool(const std::string& name)>& takes, const Evidence& evidence,
                              const Evidence* before) {
    std::vector<Seen> all;
    for (const auto& [key, reading] : evidence.counters) {
        const auto& [name, of] = key;
        std::uint64_t from = 0;
        if (before != nullptr) {
            const auto found = before->counters.find(key);
            // What was not there, and what began at an unknown time, says nothing of a rise; below it the host was
            // booted anew.
            const bool is_known = found != before->counters.end() && !found->second.is_rise && !reading.is_rise;
            from = is_known ? std::min(found->second.value, reading.value) : reading.value;
        }
        if (reading.value == from || !takes(name)) continue;
        auto what = of == "-" ? name : fmt::format("{} of {}", name, of);
        if (reading.is_rise) {
            what += reading.over_ns > 0 ? ", in " + base::format_duration(std::chrono::nanoseconds(reading.over_ns))
                                        : ", since it was printed last";
        }
        all.push_back({std::move(what), reading.place, reading.value - from, {}, name, of});
    }
    return all;
}

std::vector<Seen> counters_of(const std::vector<std::string>& patterns, const std::vector<std::string>& never,
                              const Evidence& evidence, const Evidence* before) {
    return counters_of([&](const std::string& name) { return fits(patterns, name) && !fits(never, name); }, evidence,
                       before);
}

std::uint64_t sum_of(const std::vector<Seen>& all) {
    std::uint64_t sum = 0;
    for (const auto& one : all)
        sum += one.value;
    return sum;
}

/// Several counters often count one event: the largest of them counts, added up over devices and CPUs.
std::uint64_t largest_of(const std::vector<Seen>& all) {
    std::map<std::string_view, std::uint64_t> sums;
    std::uint64_t largest = 0;
    for (const auto& one : all)
        largest = std::max(largest, sums[one.counter] += one.value);
    return largest;
}

double percent_of(std::uint64_t part, std::uint64_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// What of its settings is full, or nearly.
void add_full(Finding& finding, const Rule& rule, const Evidence& evidence) {
    double highest = 0;
    for (const auto& [name, reading] : evidence.settings) {
        const auto stars = rule.full.empty() ? std::nullopt : base::match(rule.full, name);
        if (!stars) continue;
        auto limit_name = rule.limit;
        if (!stars->empty()) limit_name.replace(limit_name.find('*'), 1, stars->front());
        const auto found = evidence.settings.find(limit_name);
        if (found == evidence.settings.end() || found->second.value == 0) continue;
        const auto limit = found->second.value;
        const bool is_full = reading.value > limit || (reading.value == limit && !rule.above);
        const auto percent = percent_of(reading.value, limit);
        if (!is_full && percent < near_percent) continue;
        finding.now |= is_full;
        finding.seen.push_back({fmt::format("{}; {} is {}", name, limit_name, limit), reading.place, reading.value});
        if (percent <= highest) continue;
        finding.percent = highest = percent;
        finding.percent_of = std::move(limit_name);
    }
}

void add_logs(Finding& finding, const Rule& rule, const Evidence& evidence, const Evidence* before) {
    for (const auto& text : rule.logs) {
        const auto found = evidence.logs.find(text);
        if (found == evidence.logs.end()) continue;
        const auto& log = found->second;
        auto count = log.count;
        // The earlier archive has them, too, unless the log was rotated.
        if (before != nullptr) {
            const auto earlier = before->logs.find(text);
            if (earlier != before->logs.end() && earlier->second.first_text == log.first_text)
                count -= std::min(count, earlier->second.count);
        }
        if (count == 0) continue;
        finding.seen.push_back({fmt::format("line{} of logs with '{}'", count == 1 ? "" : "s", text), log.first,
                                static_cast<std::uint64_t>(count), log.first_text});
    }
}

std::optional<Finding> apply(const Rule& rule, const Evidence& evidence, const Evidence* before) {
    Finding finding{.rule = &rule, .severity = rule.severity, .means = rule.means};
    add_full(finding, rule, evidence);
    const auto states = finding.seen.size();
    auto counters = counters_of(rule.counters, rule.never, evidence, before);
    const auto sum = largest_of(counters);
    if (sum > 0 && sum >= static_cast<std::uint64_t>(rule.least)) {
        const auto whole = sum_of(counters_of(rule.of, {}, evidence, before));
        if (rule.of.empty() || (whole > 0 && percent_of(sum, whole) >= rule.least_percent)) {
            finding.sum = sum;
            if (!rule.of.empty()) {
                finding.percent = percent_of(sum, whole);
                finding.percent_of = fmt::format("{}", fmt::join(rule.of, ", "));
            }
            std::ranges::stable_sort(counters, std::greater(), &Seen::value);
            std::ranges::move(counters, std::back_inserter(finding.seen));
        }
    }
    add_logs(finding, rule, evidence, before);
    if (finding.seen.empty()) return std::nullopt;
    if (finding.seen.size() == states && !finding.now) {
        finding.severity = Severity::setting;
        finding.means = rule.near;
    }
    for (const auto& [name, reading] : evidence.settings) {
        for (const auto& pattern : rule.beside) {
            const auto stars = base::match(pattern, name);
            if (stars && std::ranges::find(finding.seen, stars->front(), &Seen::of) != finding.seen.end())
                finding.seen.push_back({name, reading.place, reading.value});
        }
    }
    return finding;
}

/// Of what no counter counts the lines of logs.
std::uint64_t weight_of(const Finding& finding) {
    return finding.sum > 0 ? finding.sum : sum_of(finding.seen);
}

}  // namespace

std::string_view name_of(Severity severity) {
    return severity == Severity::lost ? "lost" : severity == Severity::late ? "late" : "setting";
}

base::Result<std::vector<Rule>> read_rules(const std::filesystem::path& file) {
    STAPGEN_LET(const auto text, base::read_file(file));
    std::vector<Rule> rules;
    const auto read = [&](base::TomlTable& root) {
        for (auto& row : root.tables("finding")) {
            Rule rule;
            rule.name = row.text("name");
            const auto severity = row.text("severity");
            const auto known = std::ranges::find(severities, severity, name_of);
            if (known == severities.end())
                row.wrong("severity", "'severity' is neither \"lost\", \"late\" nor \"setting\"");
            rule.severity = *known;
            rule.means = row.text("means");
            rule.advice = row.text("advice");
            rule.command = row.text_or("command");
            rule.counters = row.texts("counters");
            rule.never = row.texts("never");
            rule.of = row.texts("of");
            rule.least_percent = row.number("least_percent");
            rule.least = row.integer("least").value_or(1);
            rule.logs = row.texts("logs");
            rule.full = row.text_or("full");
            rule.limit = row.text_or("limit");
            rule.near = row.text_or("near");
            rule.above = row.flag("above");
            rule.beside = row.texts("beside");
            if (rule.counters.empty() && rule.logs.empty() && rule.full.empty())
                row.wrong({}, "it has neither 'counters', 'logs' nor 'full'");
            if (rule.full.empty() != rule.limit.empty() || rule.full.empty() != rule.near.empty())
                row.wrong({}, "'full', 'limit' and 'near' belong together");
            const auto stars = [](std::string_view name) { return std::ranges::count(name, '*'); };
            if (stars(rule.full) > 1 || stars(rule.full) != stars(rule.limit))
                row.wrong("full", "'full' and 'limit' have no '*', or one each");
            if (!std::ranges::all_of(rule.beside, [&](const auto& name) { return stars(name) == 1; }))
                row.wrong("beside", "each of 'beside' has one '*', for what counters are of");
            row.refuse_the_rest();
            rules.push_back(std::move(rule));
        }
        root.refuse_the_rest();
    };
    constexpr std::string_view hint = "see the comment at the top of the findings.toml that came with stapgen";
    const auto name = file.string();
    STAPGEN_TRY(base::read_toml({text, name, "the table", hint, hint}, read));
    return rules;
}

std::vector<std::string> texts_of(const std::vector<Rule>& rules) {
    std::vector<std::string> texts;
    for (const auto& rule : rules)
        texts.insert(texts.end(), rule.logs.begin(), rule.logs.end());
    return texts;
}

std::string fallen_counter(const Evidence& before, const Evidence& later) {
    constexpr std::uint64_t half_of_32_bits = std::uint64_t{1} << 31U;
    for (const auto& [key, reading] : before.counters) {
        const auto& [name, of] = key;
        if (of != "-" || !base::is_counter_group(name.substr(0, name.find('.')))) continue;
        const auto found = later.counters.find(key);
        if (found == later.counters.end() || found->second.value >= reading.value) continue;
        // One of 32 bits that was full begins anew.
        const bool may_be_full = reading.value >= half_of_32_bits && found->second.value < half_of_32_bits;
        if (!may_be_full) return fmt::format("{}, {} and {}", name, reading.value, found->second.value);
    }
    return {};
}

std::vector<Finding> findings_of(const std::vector<Rule>& rules, const Evidence& evidence, const Evidence* before) {
    std::vector<Finding> findings;
    for (const auto& rule : rules) {
        if (auto finding = apply(rule, evidence, before)) findings.push_back(*std::move(finding));
    }
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        return std::tuple(!a.now, a.severity, weight_of(b)) < std::tuple(!b.now, b.severity, weight_of(a));
    });
    return findings;
}

std::vector<Loss> other_losses(const recipe::Recipe& counters, const std::vector<Finding>& findings,
                               const Evidence& evidence, const Evidence* before) {
    std::set<std::string_view> found;
    for (const auto& finding : findings) {
        for (const auto& one : finding.seen)
            found.insert(one.what);
    }
    std::vector<Loss> losses;
    std::string name;
    const recipe::Meaning* meaning = nullptr;
    const auto is_loss = [&](const std::string& counter) {
        if (counter != name) meaning = recipe::meaning_of(counters, counter);
        name = counter;
        return meaning != nullptr && (meaning->loss || meaning->loss_by_name);
    };
    for (auto& one : counters_of(is_loss, evidence, before)) {
        if (found.contains(one.what)) continue;
        if (losses.empty() || losses.back().counter != one.counter) {
            meaning = recipe::meaning_of(counters, one.counter);
            losses.push_back({one.counter, meaning->help, meaning->loss_by_name});
        }
        losses.back().sum += one.value;
        losses.back().seen.push_back(std::move(one));
    }
    for (auto& loss : losses)
        std::ranges::stable_sort(loss.seen, std::greater(), &Seen::value);
    std::ranges::stable_sort(losses, [](const Loss& a, const Loss& b) {
        return std::tuple(a.by_name, b.sum) < std::tuple(b.by_name, a.sum);
    });
    return losses;
}

}  // namespace stapgen::bundle
