// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/files.h"
#include "base/text.h"
#include "base/toml_table.h"

namespace stapgen::bundle {

namespace {

constexpr double full_percent = 90;
constexpr std::array severities{Severity::lost, Severity::late, Severity::setting};

bool fits(const std::vector<std::string>& patterns, std::string_view name) {
    return std::ranges::any_of(patterns, [&](const auto& pattern) { return base::match(pattern, name).has_value(); });
}

/// Of those that the patterns mean, each with what it rose; in the order of their names.
std::vector<Seen> counters_of(const std::vector<std::string>& patterns, const std::vector<std::string>& never,
                              const Evidence& evidence, const Evidence* before) {
    std::vector<Seen> all;
    for (const auto& [key, reading] : evidence.counters) {
        const auto& [name, of] = key;
        if (!fits(patterns, name) || fits(never, name)) continue;
        std::uint64_t from = 0;
        if (before != nullptr) {
            const auto found = before->counters.find(key);
            // What was not there says nothing of a rise; below it the host was booted anew.
            from = found == before->counters.end() ? reading.value : std::min(found->second.value, reading.value);
        }
        if (reading.value == from) continue;
        all.push_back(
            {of == "-" ? name : fmt::format("{} of {}", name, of), reading.place, reading.value - from, {}, name});
    }
    return all;
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

std::optional<Finding> apply(const Rule& rule, const Evidence& evidence, const Evidence* before) {
    Finding finding{&rule, 0, {}, {}};
    auto counters = counters_of(rule.counters, rule.never, evidence, before);
    const auto sum = largest_of(counters);
    if (sum > 0 && sum >= static_cast<std::uint64_t>(rule.least)) {
        const auto whole = sum_of(counters_of(rule.of, {}, evidence, before));
        if (rule.of.empty() || (whole > 0 && percent_of(sum, whole) >= rule.least_percent)) {
            finding.sum = sum;
            if (!rule.of.empty()) finding.percent = percent_of(sum, whole);
            std::ranges::stable_sort(counters, std::greater(), &Seen::value);
            finding.seen = std::move(counters);
        }
    }
    const auto full = evidence.settings.find(rule.full), limit = evidence.settings.find(rule.limit);
    if (full != evidence.settings.end() && limit != evidence.settings.end() && limit->second.value > 0) {
        const auto percent = percent_of(full->second.value, limit->second.value);
        if (percent >= full_percent) {
            finding.percent = percent;
            finding.seen.push_back({fmt::format("{} is {} of {}", rule.full, full->second.value, limit->second.value),
                                    full->second.place,
                                    full->second.value,
                                    {},
                                    {}});
        }
    }
    for (const auto& text : rule.logs) {
        const auto found = evidence.logs.find(text);
        if (found == evidence.logs.end()) continue;
        const auto& log = found->second;
        finding.seen.push_back({text, log.first, static_cast<std::uint64_t>(log.count), log.first_text, {}});
    }
    if (finding.seen.empty()) return std::nullopt;
    return finding;
}

}  // namespace

std::string_view name_of(Severity severity) {
    return severity == Severity::lost ? "lost" : severity == Severity::late ? "late" : "setting";
}

base::Result<std::vector<Rule>> read_rules(const std::filesystem::path& file) {
    const auto text = base::read_file(file);
    if (!text) return tl::make_unexpected(text.error());
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
            if (rule.counters.empty() && rule.logs.empty() && rule.full.empty())
                row.wrong({}, "it has neither 'counters', 'logs' nor 'full'");
            if (rule.full.empty() != rule.limit.empty()) row.wrong({}, "'full' and 'limit' belong together");
            row.refuse_the_rest();
            rules.push_back(std::move(rule));
        }
        root.refuse_the_rest();
    };
    constexpr std::string_view hint = "see the comment at the top of the findings.toml that came with stapgen";
    const auto name = file.string();
    if (auto done = base::read_toml({*text, name, "the table", hint, hint}, read); !done)
        return tl::make_unexpected(done.error());
    return rules;
}

std::vector<std::string> texts_of(const std::vector<Rule>& rules) {
    std::vector<std::string> texts;
    for (const auto& rule : rules)
        texts.insert(texts.end(), rule.logs.begin(), rule.logs.end());
    return texts;
}

std::vector<Finding> findings_of(const std::vector<Rule>& rules, const Evidence& evidence, const Evidence* before) {
    std::vector<Finding> findings;
    for (const auto& rule : rules) {
        if (auto finding = apply(rule, evidence, before)) findings.push_back(*std::move(finding));
    }
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        return std::tuple(a.rule->severity, b.sum) < std::tuple(b.rule->severity, a.sum);
    });
    return findings;
}

}  // namespace stapgen::bundle
