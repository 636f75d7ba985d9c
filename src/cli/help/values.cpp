#include "cli/help/values.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "cli/options/report_options.h"
#include "host/facts.h"
#include "host/threads.h"
#include "host/workarounds.h"
#include "session/origin_groups.h"

namespace stapgen::cli {

namespace {

namespace fs = std::filesystem;

Offer nothing(const Known&) {
    return {};
}

Offer files(const Known&) {
    return {{}, Offer::Paths::files};
}

Offer folders(const Known&) {
    return {{}, Offer::Paths::folders};
}

Offer thread_ids(const Known&) {
    Offer offer;
    const auto threads = host::running_threads(*host::real_system());
    std::map<std::int64_t, std::string> processes;
    for (const auto& thread : threads) {
        if (thread.tid == thread.pid) processes[thread.pid] = thread.comm;
    }
    for (const auto& thread : threads) {
        auto about = thread.comm;
        if (thread.tid != thread.pid) about += fmt::format(", of {} {}", thread.pid, processes[thread.pid]);
        offer.candidates.push_back({fmt::to_string(thread.tid), std::move(about)});
    }
    return offer;
}

Offer process_ids(const Known&) {
    Offer offer;
    for (const auto& thread : host::running_threads(*host::real_system())) {
        if (thread.tid == thread.pid) offer.candidates.push_back({fmt::to_string(thread.pid), thread.comm});
    }
    return offer;
}

Offer thread_names(const Known&) {
    std::map<std::string, std::size_t> counts;
    for (const auto& thread : host::running_threads(*host::real_system()))
        ++counts[thread.comm];
    Offer offer;
    for (const auto& [name, count] : counts)
        offer.candidates.push_back({name, count == 1 ? "one thread" : fmt::format("{} threads", count)});
    return offer;
}

Offer devices(const Known&) {
    Offer offer;
    for (auto& [name, state] : host::network_devices(*host::real_system()))
        offer.candidates.push_back({std::move(name), std::move(state)});
    return offer;
}

Offer releases(const Known&) {
    utsname running{};
    ::uname(&running);
    Offer offer;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/lib/modules", error)) {
        const auto release = entry.path().filename().string();
        std::error_code ignored;
        std::string about = fs::exists(entry.path() / "build", ignored) ? "headers are there" : "no headers";
        if (release == running.release) about += ", runs now";  // NOLINT: ends with a NUL
        offer.candidates.push_back({release, std::move(about)});
    }
    return offer;
}

Offer modules(const Known&) {
    Offer offer;
    for (auto& module : host::read_loaded_modules(*host::real_system()))
        offer.candidates.push_back({std::move(module.name)});
    return offer;
}

Offer commands(const Known& known) {
    Offer offer;
    for (const auto* command : subcommands_of(known.app))
        offer.candidates.push_back({command->get_name(), command->get_description()});
    return offer;
}

Offer recipes(const Known& known) {
    Offer offer;
    for (const auto& recipe : known.program.catalog.recipes)
        offer.candidates.push_back({recipe.name, recipe.summary});
    return offer;
}

Offer workarounds(const Known& known) {
    Offer offer{{{"all", "every one"}}};
    for (const auto& workaround : host::own_workarounds)
        offer.candidates.push_back({std::string(workaround.id), std::string(workaround.without)});
    const auto all = host::load_workarounds(known.program.files.workarounds);
    if (!all) return offer;
    for (const auto& workaround : *all)
        offer.candidates.push_back({workaround.id, workaround.why});
    return offer;
}

Offer what_groups(const Known&) {
    Offer offer;
    for (const auto word : report::grouping_words())
        offer.candidates.push_back({std::string(word)});
    return offer;
}

Offer groups_of_files(const Known& known) {
    auto offer = what_groups(known);
    for (const auto word : session::origin_words)
        offer.candidates.push_back({std::string(word)});
    return offer;
}

constexpr std::array words{
    ValueWord{"ADDRESS", "IPv4 or IPv6, in full and without a host's name", nothing},
    ValueWord{"AFTER", "", files},
    ValueWord{"BEFORE", "", files},
    ValueWord{"COMM", "a thread's name, of which the kernel keeps 15 bytes", thread_names},
    ValueWord{"COMMAND", "", commands},
    ValueWord{"CURE", "a cure's name, as it is told on stderr; or all", workarounds},
    ValueWord{"DEV", "a network device's name", devices},
    ValueWord{"DIR", "", folders},
    ValueWord{"DURATION", "a number with its unit: ns, us, ms, s, m or h, as 250ms", nothing},
    ValueWord{"FILE", "", files},
    ValueWord{"FUNC", "a kernel function; * and ? stand for anything", nothing},
    ValueWord{"GROUP", "", groups_of_files},
    ValueWord{"HEX", "hexadecimal, with or without 0x", nothing},
    ValueWord{"MARK", "32 bits, decimal or with 0x hexadecimal", nothing},
    ValueWord{"MODULE", "a kernel module's name", modules},
    ValueWord{"PATH", "", files},
    ValueWord{"PERCENT", "a number, with or without %: 2.5%", nothing},
    ValueWord{"PID", "a process, decimal: 'ps -e' lists them", process_ids},
    ValueWord{"RECIPE", "a recipe's name: 'stapgen list' lists them", recipes},
    ValueWord{"RELEASE", "a kernel's release, as 'uname -r' prints it", releases},
    ValueWord{"SIZE", "a number with kB, MB, GB (powers of 1000) or KiB, MiB, GiB (also K, M, G; of 1024)", nothing},
    ValueWord{"TID", "a thread, decimal: 'ps -eLo pid,tid,comm' lists them", thread_ids},
    ValueWord{"TIME", "a number with ns, us, ms, s, m or h, as 250ms; without: seconds", nothing},
    ValueWord{"WHAT", "", what_groups},
};

}  // namespace

const ValueWord* meaning_of(std::string_view value_word) {
    const auto word = value_word.substr(0, value_word.find_first_of("[./,"));
    const auto* found = std::ranges::find(words, word, &ValueWord::word);
    return found == words.end() ? nullptr : found;
}

std::vector<const ValueWord*> values_used(const std::vector<OptionGroup>& groups) {
    std::vector<const ValueWord*> used;
    for (const auto& group : groups) {
        for (const auto* option : group.options) {
            const auto* meaning = meaning_of(value_word(*option));
            if (meaning == nullptr || meaning->meaning.empty()) continue;
            if (std::ranges::find(used, meaning) == used.end()) used.push_back(meaning);
        }
    }
    return used;
}

}  // namespace stapgen::cli
