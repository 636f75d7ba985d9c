// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>

#include "base/text.h"
#include "cli/help/help.h"
#include "cli/help/spec_text.h"
#include "cli/options/typed.h"
#include "host/facts.h"
#include "host/threads.h"
#include "host/workarounds.h"
#include "session/measured_facts.h"
#include "session/presentation.h"

namespace stapgen::cli {

namespace {

constexpr auto file_names = [](const Known&) { return Completion{{}, Completion::Paths::files}; };
constexpr auto folder_names = [](const Known&) { return Completion{{}, Completion::Paths::folders}; };

Completion thread_ids(const Known&) {
    Completion found;
    const auto threads = host::running_threads(*host::real_system());
    std::map<std::int64_t, std::string> processes;
    for (const auto& thread : threads) {
        if (thread.tid == thread.pid) processes[thread.pid] = thread.comm;
    }
    for (const auto& thread : threads) {
        auto about = thread.comm;
        if (thread.tid != thread.pid) about += fmt::format(", of {} {}", thread.pid, processes[thread.pid]);
        found.candidates.push_back({fmt::to_string(thread.tid), std::move(about)});
    }
    return found;
}

Completion process_ids(const Known&) {
    Completion found;
    for (const auto& thread : host::running_threads(*host::real_system())) {
        if (thread.tid == thread.pid) found.candidates.push_back({fmt::to_string(thread.pid), thread.comm});
    }
    return found;
}

Completion thread_names(const Known&) {
    std::map<std::string, std::size_t> counts;
    for (const auto& thread : host::running_threads(*host::real_system()))
        ++counts[thread.comm];
    Completion found;
    for (const auto& [name, count] : counts)
        found.candidates.push_back({name, count == 1 ? "one thread" : fmt::format("{} threads", count)});
    return found;
}

Completion devices(const Known&) {
    Completion found;
    for (auto& [name, state] : host::network_devices(*host::real_system()))
        found.candidates.push_back({std::move(name), std::move(state)});
    return found;
}

Completion releases(const Known&) {
    const auto machine = host::real_system();
    const std::filesystem::path folder = "/lib/modules";
    Completion found;
    for (const auto& release : machine->list(folder)) {
        std::string about = machine->exists(folder / release / "build") ? "headers are there" : "no headers";
        if (release == machine->running_release()) about += ", runs now";
        found.candidates.push_back({release, std::move(about)});
    }
    return found;
}

Completion modules(const Known&) {
    Completion found;
    for (auto& module : host::read_loaded_modules(*host::real_system()))
        found.candidates.push_back({std::move(module.name)});
    return found;
}

Completion commands(const Known& known) {
    Completion found;
    for (const auto* command : shown_commands(known.root))
        found.candidates.push_back({command->name, command->summary});
    for (const auto& topic : help_topics())
        found.candidates.push_back({std::string(topic.name), std::string(topic.summary)});
    return found;
}

Completion recipes(const Known& known) {
    Completion found;
    for (const auto& recipe : known.program.catalog.recipes)
        found.candidates.push_back({recipe.name, recipe.summary});
    return found;
}

Completion workarounds(const Known& known) {
    Completion found{{{"all", "every one"}}};
    for (const auto& workaround : host::own_workarounds)
        found.candidates.push_back({std::string(workaround.id), std::string(workaround.without)});
    const auto all = host::load_workarounds(known.program.files.workarounds);
    if (!all) return found;
    for (const auto& workaround : *all)
        found.candidates.push_back({workaround.id, workaround.why});
    return found;
}

Completion what_groups(const Known&) {
    Completion found;
    for (const auto word : session::grouping_words())
        found.candidates.push_back({std::string(word)});
    return found;
}

Completion origins(const Known&) {
    Completion found;
    for (const auto word : session::origin_words)
        found.candidates.push_back({std::string(word)});
    return found;
}

Completion groups_of_files(const Known& known) {
    auto found = what_groups(known);
    std::ranges::move(origins(known).candidates, std::back_inserter(found.candidates));
    return found;
}

struct Source {
    std::string_view word;
    Completion (*candidates)(const Known& known);
};

constexpr std::array sources{
    Source{"AFTER", file_names},
    Source{"BEFORE", file_names},
    Source{"COMM", thread_names},
    Source{"COMMAND", commands},
    Source{"DEV", devices},
    Source{"DIR", folder_names},
    Source{"FILE", file_names},
    Source{"GROUP", groups_of_files},
    Source{"MODULE", modules},
    Source{"ORIGIN", origins},
    Source{"PATH", file_names},
    Source{"PID", process_ids},
    Source{"RECIPE", recipes},
    Source{"RELEASE", releases},
    Source{"TID", thread_ids},
    Source{"WHAT", what_groups},
    Source{"WORKAROUND", workarounds},
};

/// For a value's word as an option has it, "TIME" or "SIZE[,N]"; nothing if any value is possible.
Completion candidates_of(std::string_view value, const Known& known) {
    const auto* found = std::ranges::find(sources, plain_word(value), &Source::word);
    return found == sources.end() ? Completion{} : found->candidates(known);
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

Completion option_completion(const Typed& place, const std::string& typed) {
    Completion found;
    for (const auto& group : option_groups(*place.command)) {
        for (const auto* option : group.options) {
            if (place.given.contains(option) && !is_repeatable(*option)) continue;
            const auto is_given = [&](const std::string& other) {
                return place.given.contains(option_named(*place.command, other));
            };
            if (std::ranges::any_of(option->rules.excludes, is_given)) continue;
            for (const auto& name : names_of(*option))
                found.candidates.push_back({name, option_text(*option, false)});
        }
    }
    return fitting(std::move(found), "", typed);
}

Completion argument_completion(const Typed& place, const Known& known, const std::string& typed) {
    if (const auto* argument = place.next_argument()) return value_completion(*argument, known, "", typed);
    Completion found;
    for (const auto* command : shown_commands(*place.command))
        found.candidates.push_back({command->name, command->summary});
    return fitting(std::move(found), "", typed);
}

}  // namespace

Completion completion_of(const Known& known, const std::vector<std::string>& words) {
    Typed place{.command = &known.root};
    for (std::size_t at = 0; at + 1 < words.size(); ++at)
        place.take(words[at]);
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
