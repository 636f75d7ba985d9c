#include "cli/help/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "cli/options/value_words.h"
#include "host/facts.h"
#include "host/threads.h"
#include "host/workarounds.h"
#include "report/presentation.h"
#include "session/origin_groups.h"

namespace stapgen::cli {

namespace {

Completion files(const Known&) {
    return {{}, Completion::Paths::files};
}

Completion folders(const Known&) {
    return {{}, Completion::Paths::folders};
}

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
    for (const auto word : report::grouping_words())
        found.candidates.push_back({std::string(word)});
    return found;
}

Completion groups_of_files(const Known& known) {
    auto found = what_groups(known);
    for (const auto word : session::origin_words)
        found.candidates.push_back({std::string(word)});
    return found;
}

struct Source {
    std::string_view word;
    Completion (*candidates)(const Known& known);
};

constexpr std::array sources{
    Source{"AFTER", files},       Source{"BEFORE", files},
    Source{"COMM", thread_names}, Source{"COMMAND", commands},
    Source{"DEV", devices},       Source{"DIR", folders},
    Source{"FILE", files},        Source{"GROUP", groups_of_files},
    Source{"MODULE", modules},    Source{"PATH", files},
    Source{"PID", process_ids},   Source{"RECIPE", recipes},
    Source{"RELEASE", releases},  Source{"TID", thread_ids},
    Source{"WHAT", what_groups},  Source{"WORKAROUND", workarounds},
};

}  // namespace

Completion candidates_of(std::string_view value, const Known& known) {
    const auto* found = std::ranges::find(sources, plain_word(value), &Source::word);
    return found == sources.end() ? Completion{} : found->candidates(known);
}

}  // namespace stapgen::cli
