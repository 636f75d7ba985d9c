#include "cli/help/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "base/text.h"
#include "cli/help/command_tree.h"

namespace stapgen::cli {

namespace {

/// Where on a command line we are.
struct Place {
    const CLI::App* command = nullptr;
    const CLI::Option* value_of = nullptr;  ///< the option whose value comes next
    std::set<const CLI::Option*> given{};
    std::size_t arguments = 0;
    bool options_ended = false;
};

const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
    const auto found = command.get_options([&](const CLI::Option* option) {
        const auto names = names_of(*option);
        return std::ranges::find(names, name) != names.end();
    });
    return found.empty() ? nullptr : found.front();
}

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
        if (takes_value(*option) && equals == std::string::npos) place.value_of = option;
    } else if (const auto* subcommand = subcommand_of(*place.command, word)) {
        place.command = subcommand;
        place.arguments = 0;
    } else {
        ++place.arguments;
    }
}

Offer values_of(const CLI::Option& option, const Known& known) {
    Offer offer;
    for (const auto& choice : choices_of(option))
        offer.candidates.push_back({choice});
    const auto* meaning = meaning_of(value_word(option));
    return offer.candidates.empty() && meaning != nullptr ? meaning->offer(known) : offer;
}

/// Those that begin with `typed`, each with `before` in front.
Offer fitting(Offer offer, const std::string& before, const std::string& typed) {
    std::erase_if(offer.candidates, [&](const Candidate& one) {
        return !one.text.starts_with(typed) || base::printable(one.text) != one.text;
    });
    for (auto& candidate : offer.candidates)
        candidate.text.insert(0, before);
    return offer;
}

/// A value, or the last one of several with commas between.
Offer value_completion(const CLI::Option& option, const Known& known, const std::string& before,
                       const std::string& typed) {
    const auto comma = value_word(option).ends_with("[,...]") ? typed.rfind(',') : std::string::npos;
    const auto begin = comma == std::string::npos ? 0 : comma + 1;
    return fitting(values_of(option, known), before + typed.substr(0, begin), typed.substr(begin));
}

Offer option_completion(const Place& place, const std::string& typed) {
    Offer offer;
    for (const auto& group : option_groups(*place.command)) {
        for (const auto* option : group.options) {
            if (place.given.contains(option) && !is_repeatable(*option)) continue;
            const auto excluded = option->get_excludes();
            if (std::ranges::any_of(excluded, [&](const CLI::Option* one) { return place.given.contains(one); })) {
                continue;
            }
            for (const auto& name : names_of(*option))
                offer.candidates.push_back({name, text_of(*option, false)});
        }
    }
    return fitting(std::move(offer), "", typed);
}

Offer argument_completion(const Place& place, const Known& known, const std::string& typed) {
    const auto arguments = arguments_of(*place.command);
    if (!arguments.empty()) {
        const auto* option = arguments[std::min(place.arguments, arguments.size() - 1)];
        if (place.arguments >= arguments.size() && !is_repeatable(*option)) return {};
        return value_completion(*option, known, "", typed);
    }
    Offer offer;
    for (const auto* command : subcommands_of(*place.command))
        offer.candidates.push_back({command->get_name(), command->get_description()});
    return fitting(std::move(offer), "", typed);
}

}  // namespace

Offer completion_of(const Known& known, const std::vector<std::string>& words) {
    Place place{.command = &known.app};
    for (std::size_t at = 0; at + 1 < words.size(); ++at)
        pass(place, words[at]);
    const auto typed = words.empty() ? std::string() : words.back();
    if (place.value_of != nullptr) return value_completion(*place.value_of, known, "", typed);
    if (place.options_ended || !typed.starts_with("-")) return argument_completion(place, known, typed);
    const auto equals = typed.find('=');
    if (equals == std::string::npos) return option_completion(place, typed);
    const auto* option = option_named(*place.command, typed.substr(0, equals));
    if (option == nullptr || !takes_value(*option)) return {};
    return value_completion(*option, known, typed.substr(0, equals + 1), typed.substr(equals + 1));
}

void print(const Offer& offer) {
    for (const auto& [text, about] : offer.candidates)
        std::cout << fmt::format("{}\t{}\n", text, base::printable(about));
    if (offer.paths == Offer::Paths::files) std::cout << ":files\n";
    if (offer.paths == Offer::Paths::folders) std::cout << ":folders\n";
}

}  // namespace stapgen::cli
