// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/parse.h"
#include "cli/options/plans.h"

/// Command lines alone: recipes that are made up, no stap, no files.
namespace stapgen::test {

/// "reads" has every filter, kind of parameter and switch; "counts" is of the kernel's counters, every 5 s; "broken"
/// cannot be used.
inline recipe::Catalog made_up_catalog() {
    using recipe::Filter;
    using recipe::ParameterType;
    recipe::Recipe reads;
    reads.name = "reads";
    reads.filters = {Filter::thread, Filter::packet, Filter::sample, Filter::device, Filter::mark, Filter::container};
    reads.stages = {{"queued", "until it is read"}};
    reads.record.aggregates = true;
    reads.guru = true;
    reads.parameters = {
        {.name = "max-packets", .default_value = "100", .help = "packets at a time; more are lost"},
        {.name = "brief", .type = ParameterType::boolean, .default_value = "false"},
        {.name = "local", .type = ParameterType::boolean, .default_value = "true"},
        {.name = "kind", .type = ParameterType::text, .default_value = "tcp", .choices = {"tcp", "udp"}},
    };
    recipe::Recipe counts;
    counts.name = "counts";
    counts.source = recipe::Source::network_counters;
    counts.interval_s = 5;
    recipe::Catalog catalog{{counts, reads}, {}};
    catalog.broken.emplace("broken", base::Error{base::ErrorKind::bad_input, "broken/recipe.toml: no", "mend it"});
    return catalog;
}

inline std::vector<std::string> words_of(std::string_view typed) {
    std::vector<std::string> words;
    for (const auto word : base::words(typed))
        words.emplace_back(word);
    return words;
}

/// A command line, parsed.
class CommandLine {
  public:
    explicit CommandLine(std::string_view typed, std::string_view config = "")
        : result(cli::parse(root, catalog, words_of(typed), {{"config.toml", std::string(config)}})) {}
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// What is wrong with it; empty if nothing is.
    [[nodiscard]] std::string error() const { return result ? "" : result.error().what; }
    [[nodiscard]] std::string hint() const { return result ? "" : result.error().hint; }
    [[nodiscard]] std::string command() const { return result ? cli::full_name(*result->command) : ""; }

    /// Of the command that it came to; none of an error.
    template <class Options>
    [[nodiscard]] const Options& options() const {
        REQUIRE_MESSAGE(result, error());
        const auto* values = cli::values_of<Options>(*result->command);
        REQUIRE(values != nullptr);
        return *values;
    }

    recipe::Catalog catalog = made_up_catalog();
    cli::CommandSpec root = cli::command_table(catalog);
    base::Result<cli::Invocation> result;
};

/// A command line, and what its values must be.
template <class Options>
struct Right {
    std::string_view typed;
    bool (*holds)(const Options& options);
};

struct Wrong {
    std::string_view typed;
    std::string_view what, hint_begins = {};
};

template <class Options>
void check(std::string_view command, const std::vector<Right<Options>>& cases) {
    for (const auto& [typed, holds] : cases) {
        CAPTURE(typed);
        const CommandLine line(typed);
        CHECK(line.command() == command);
        CHECK(holds(line.template options<Options>()));
    }
}

inline void check(const std::vector<Wrong>& cases) {
    for (const auto& [typed, what, hint_begins] : cases) {
        CAPTURE(typed);
        const CommandLine line(typed);
        CHECK(line.error() == what);
        CHECK(line.hint().starts_with(hint_begins));
    }
}

}  // namespace stapgen::test
