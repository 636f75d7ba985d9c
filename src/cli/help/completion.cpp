#include "cli/help/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "base/text.h"
#include "cli/help/spec_text.h"

namespace stapgen::cli {

namespace {

/// Where on a command line we are.
struct Place {
    const CommandSpec* command = nullptr;
    const OptionSpec* value_of = nullptr;  ///< the option whose value comes next
    std::set<const OptionSpec*> given{};
    std::size_t arguments = 0;
    bool options_ended = false;
};

void pass(Place& place, const std::string& word) {
    if (place.value_of != nullptr) {
        place.value_of = nullptr;
    } else if (!place.options_ended && word == "--") {
        place.options_ended = true;
    } else if (!place.options_ended && word.starts_with("-") && word != "-") {
        const auto equals = word.find('=');
        const auto* option = option_named(*place.command, word.substr(0, equals));
        if (option == nullptr) return;
        place.given.insert(option);
        if (!is_flag(*option) && equals == std::string::npos) place.value_of = option;
    } else if (const auto* subcommand = command_named(*place.command, word)) {
        place.command = subcommand;
        place.arguments = 0;
    } else {
        ++place.arguments;
    }
}

Completion values_of(const OptionSpec& option, const Known& known) {
    if (option.rules.choices.empty()) return candidates_of(option.value, known);
    Completion found;
    for (const auto& choice : option.rules.choices)
        found.candidates.push_back({choice});
    return found;
}

/// Those that begin with `typed`, each with `before` in front.
Completion fitting(Completion found, const std::string& before, const std::string& typed) {
    std::erase_if(found.candidates, [&](const Candidate& one) {
        return !one.text.starts_with(typed) || base::printable(one.text) != one.text;
    });
    for (auto& candidate : found.candidates)
        candidate.text.insert(0, before);
    return found;
}

/// A value, or the last one of several with commas between.
Completion value_completion(const OptionSpec& option, const Known& known, const std::string& before,
                            const std::string& typed) {
    const auto comma = option.value.ends_with("[,...]") ? typed.rfind(',') : std::string::npos;
    const auto begin = comma == std::string::npos ? 0 : comma + 1;
    return fitting(values_of(option, known), before + typed.substr(0, begin), typed.substr(begin));
}

Completion option_completion(const Place& place, const std::string& typed) {
    Completion found;
    for (const auto& group : option_groups(*place.command)) {
        for (const auto* option : group.options) {
            if (place.given.contains(option) && !is_repeatable(*option)) continue;
            const auto is_given = [&](const std::string& other) {
                return place.given.contains(option_named(*place.command, other));
            };
            if (std::ranges::any_of(option->rules.excludes, is_given)) continue;
            for (const auto& name : names_of(*option))
                found.candidates.push_back({name, short_text(*option)});
        }
    }
    return fitting(std::move(found), "", typed);
}

Completion argument_completion(const Place& place, const Known& known, const std::string& typed) {
    const auto arguments = arguments_of(*place.command);
    if (!arguments.empty()) {
        const auto* option = arguments[std::min(place.arguments, arguments.size() - 1)];
        if (place.arguments >= arguments.size() && !is_repeatable(*option)) return {};
        return value_completion(*option, known, "", typed);
    }
    Completion found;
    for (const auto* command : shown_commands(*place.command))
        found.candidates.push_back({command->name, command->summary});
    return fitting(std::move(found), "", typed);
}

}  // namespace

Completion completion_of(const Known& known, const std::vector<std::string>& words) {
    Place place{.command = &known.root};
    for (std::size_t at = 0; at + 1 < words.size(); ++at)
        pass(place, words[at]);
    const auto typed = words.empty() ? std::string() : words.back();
    if (place.value_of != nullptr) return value_completion(*place.value_of, known, "", typed);
    if (place.options_ended || !typed.starts_with("-")) return argument_completion(place, known, typed);
    const auto equals = typed.find('=');
    if (equals == std::string::npos) return option_completion(place, typed);
    const auto* option = option_named(*place.command, typed.substr(0, equals));
    if (option == nullptr || is_flag(*option)) return {};
    return value_completion(*option, known, typed.substr(0, equals + 1), typed.substr(equals + 1));
}

void print(const Completion& completion) {
    for (const auto& [text, about] : completion.candidates)
        std::cout << fmt::format("{}\t{}\n", text, base::printable(about));
    if (completion.paths == Completion::Paths::files) std::cout << ":files\n";
    if (completion.paths == Completion::Paths::folders) std::cout << ":folders\n";
}

}  // namespace stapgen::cli
