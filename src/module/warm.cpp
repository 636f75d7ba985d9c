// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "base/files.h"
#include "base/terminal.h"
#include "base/units.h"
#include "module/make.h"

namespace stapgen::module {

namespace {

namespace fs = std::filesystem;

std::uintmax_t size_of(const fs::path& folder) {
    std::uintmax_t size = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code not_a_file;
        const auto bytes = entry->is_symlink(not_a_file) ? 0 : entry->file_size(not_a_file);
        if (!not_a_file) size += bytes;
    }
    return size;
}

/// One module into the cache. The workarounds are reported for the first one only.
base::Result<void> warm_one(const recipe::Program& program, const host::System& machine, const recipe::Recipe& recipe,
                            const MakeOptions& options, bool first) {
    auto preparation = prepare(program, machine, recipe, options, Purpose::run_elsewhere);
    if (!preparation) return tl::make_unexpected(preparation.error());
    if (!first) preparation->notes.clear();
    return compile(machine, *preparation, false, false).map([](const auto&) {});
}

}  // namespace

base::Result<void> warm(const recipe::Program& program, const host::System& machine,
                        const std::vector<recipe::Recipe>& recipes, const MakeOptions& options) {
    using Clock = std::chrono::steady_clock;
    std::optional<base::Error> failure;
    bool first = true;
    for (const auto& recipe : recipes) {
        if (recipe.source != recipe::Source::script) continue;
        if (auto can = recipe::complete_arguments(recipe, options.arguments); !can) {
            base::print_message(fmt::format("{} is skipped: {}", recipe.name, can.error().what));
            continue;
        }
        std::vector<decltype(options.interval)> intervals(1);
        if (!recipe.interval_s) intervals.emplace_back(live_interval);
        for (const auto& interval : intervals) {
            auto one = options;
            one.interval = interval;
            const auto begin = Clock::now();
            auto done = warm_one(program, machine, recipe, one, first);
            first = false;
            if (!done) {
                // What this machine lacks is mostly the same for all.
                if (!failure || failure->what != done.error().what) base::show_error(done.error());
                if (!failure) failure = done.error();
                break;
            }
            const auto name = recipe.name + (interval ? " -i 1" : "");
            std::cout << fmt::format("{:<22} {}\n", name, base::format_duration(Clock::now() - begin)) << std::flush;
        }
    }
    const auto cache = base::cache_directory();
    std::cout << fmt::format("the cache is {}, {} MB\n", cache.string(), (size_of(cache) + 999'999) / 1'000'000);
    if (!failure) return {};
    return tl::make_unexpected(base::Error{failure->kind, "some modules are not in the cache", "see above"});
}

}  // namespace stapgen::module
