// SPDX-License-Identifier: GPL-2.0-or-later
#include "when/condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "base/units.h"

namespace stapgen::when {

namespace {

constexpr std::string_view example =
    "for example 'tcp-app.run-queue p99 > 5ms over 1s', 'drv-ip max > 200us' or "
    "'lost rise > 0 over 10s'";

tl::unexpected<base::Error> wrong(std::string_view text, std::string_view word, const std::string& why,
                                  std::string hint = std::string(example)) {
    const auto column =
        word.data() == nullptr ? text.size() + 1 : static_cast<std::size_t>(word.data() - text.data()) + 1;
    return base::bad_input(fmt::format("--when '{}', column {}: {}", base::printable(text), column, why),
                           std::move(hint));
}

/// "p99.9": 99.9; 0 if it is none.
double percent_of(std::string_view word) {
    double percent = 0;
    if (!word.starts_with('p') || word.size() > 8) return 0;
    word.remove_prefix(1);
    if (word.empty() || !base::is_digit(word.front())) return 0;
    const auto [end, error] = std::from_chars(word.begin(), word.end(), percent, std::chars_format::fixed);
    return error == std::errc{} && end == word.end() && percent > 0 && percent < 100 ? percent : 0;
}

std::string statistic_text(const Condition& condition) {
    switch (condition.statistic) {
        case Statistic::percentile:
            return fmt::format("p{:g}", condition.percent);
        case Statistic::maximum:
            return "max";
        case Statistic::rise:
            return "rise";
    }
    return {};
}

/// Exact: "5ms", "1.5s" of a number of ns.
std::string exact_duration(std::int64_t ns) {
    for (const auto& [unit, of] :
         {std::pair<const char*, std::int64_t>{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}}) {
        if (ns >= of && ns % (of / 100) == 0)
            return fmt::format("{:g}{}", static_cast<double>(ns) / static_cast<double>(of), unit);
    }
    return fmt::format("{}ns", ns);
}

/// The account's own counts have these names, alone or with a cause behind them.
bool is_of_account(std::string_view subject) {
    const auto name = subject.substr(0, subject.find('.'));
    return name == "seen" || name == "reported" || name == "filtered" || name == "incomplete" || name == "lost";
}

/// NO_SOCKET, as opposed to what a text of a record may be.
bool looks_like_reason(std::string_view cause) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return !cause.empty() && is_upper(cause[0]) &&
           std::ranges::all_of(cause, [&](char c) { return is_upper(c) || base::is_digit(c) || c == '_'; });
}

}  // namespace

std::string Condition::text() const {
    return fmt::format("{} {} > {} over {}", subject, statistic_text(*this),
                       is_duration ? exact_duration(above) : fmt::to_string(above), exact_duration(window.count()));
}

std::string Condition::value_text(std::int64_t value) const {
    return is_duration ? base::format_duration(std::chrono::nanoseconds(value)) : base::with_commas(value);
}

base::Result<Condition> parse_condition(std::string_view text) {
    constexpr std::size_t max_bytes = 256;
    if (text.size() > max_bytes)
        return base::bad_input("--when: the condition is longer than 256 bytes", std::string(example));
    const auto words = base::words(text);
    const auto word = [&](std::size_t i) { return i < words.size() ? words[i] : std::string_view(); };
    Condition condition;
    condition.subject = word(0);
    if (words.empty()) return wrong(text, {}, "there is no condition");
    if (!std::ranges::all_of(condition.subject,
                             [](char c) { return base::is_word_character(c) || c == '.' || c == '-'; }))
        return wrong(text, word(0),
                     fmt::format("'{}' is not the name of a stage or a count", base::printable(word(0))));
    if (word(1) == "max") {
        condition.statistic = Statistic::maximum;
    } else if (word(1) == "rise") {
        condition.statistic = Statistic::rise;
    } else if (condition.percent = percent_of(word(1)); condition.percent <= 0) {
        return wrong(text, word(1),
                     fmt::format("'{}' is neither a percentile (p99), max nor rise", base::printable(word(1))));
    }
    if (word(2) != ">")
        return wrong(text, word(2), "'>' is missing", fmt::format("conditions say what is too much; {}", example));
    const auto value = word(3);
    if (const auto number = base::to_int(value)) {
        condition.above = *number;
    } else if (const auto duration = base::parse_duration(value, base::BareNumber::refused)) {
        condition.above = duration->count();
        condition.is_duration = true;
    } else {
        return wrong(text, value,
                     fmt::format("'{}' is neither a time with its unit nor a whole number", base::printable(value)));
    }
    if (condition.above < 0) return wrong(text, value, "nothing is below 0");
    if (words.size() == 4) return condition;
    if (word(4) != "over")
        return wrong(text, word(4), fmt::format("'{}' instead of 'over' and a time", base::printable(word(4))));
    const auto window = base::parse_duration(word(5), base::BareNumber::refused);
    if (!window || *window < std::chrono::milliseconds(10) || *window > longest_window)
        return wrong(text, word(5), "a window is from 10ms to 10m");
    condition.window = *window;
    if (words.size() > 6)
        return wrong(text, word(6), fmt::format("'{}' is one word too many", base::printable(word(6))));
    return condition;
}

base::Result<void> check_condition(const Condition& condition, const schema::Header& header,
                                   const std::vector<std::string>& kinds,
                                   const std::map<std::int64_t, std::string>& reasons) {
    std::vector<std::string> known;
    const auto refuse = [&](const std::string& why, std::string hint) {
        return base::bad_input(fmt::format("--when '{}': {}", condition.text(), why), std::move(hint));
    };
    if (condition.statistic == Statistic::rise) {
        if (condition.is_duration)
            return refuse("a count rises by a number, not by a time", "write for example 'rise > 0'");
        for (const auto& schema : header.schemas) {
            if (schema::has_type(schema, schema::FieldType::count)) known.push_back(schema.tag);
        }
        known.insert(known.end(), kinds.begin(), kinds.end());
        known.insert(known.end(), {"incomplete", "lost", "seen"});
        const auto dot = condition.subject.find('.');
        const auto tag = condition.subject.substr(0, dot);
        if (!is_of_account(tag) && std::ranges::find(known, tag) == known.end()) {
            return refuse(fmt::format("{} counts no '{}'", header.recipe, base::printable(condition.subject)),
                          base::meant_hint(condition.subject, known,
                                           fmt::format("counts that rise: {}", fmt::join(known, ", "))));
        }
        const auto cause = dot == std::string::npos ? std::string() : condition.subject.substr(dot + 1);
        const auto of = std::ranges::find(header.schemas, tag, &schema::Schema::tag);
        const bool is_reason = of != header.schemas.end() && schema::has_type(*of, schema::FieldType::reason) &&
                               looks_like_reason(cause) && !reasons.empty();
        if (!is_reason) return {};
        std::vector<std::string> names;
        for (const auto& [number, name] : reasons)
            names.push_back(name);
        if (std::ranges::find(names, cause) != names.end()) return {};
        return refuse(fmt::format("this kernel has no drop reason {}", cause),
                      base::meant_hint(cause, names, "'stapgen help drop-reasons' has all"));
    }
    const schema::Field* found = nullptr;
    for (const auto& schema : header.schemas) {
        for (const auto& field : schema.fields) {
            if (!schema::has_statistics(field)) continue;
            known.push_back(field.name);
            if (field.name == condition.subject) found = &field;
        }
    }
    if (found == nullptr) {
        return refuse(fmt::format("{} has no stage '{}'", header.recipe, base::printable(condition.subject)),
                      base::meant_hint(condition.subject, known, fmt::format("there are {}", fmt::join(known, ", "))));
    }
    const bool is_stage = found->type == schema::FieldType::stage;
    if (is_stage && !condition.is_duration) return refuse("a stage takes a time", "give the unit: 5ms, 200us");
    if (!is_stage && condition.is_duration) return refuse("it is a number without a unit", "omit the unit");
    return {};
}

}  // namespace stapgen::when
