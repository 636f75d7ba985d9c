// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <mutex>

#include "base/files.h"
#include "base/parallel.h"
#include "base/process.h"
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

class Warming {
  public:
    Warming(const recipe::Program& program, const host::System& machine, const MakeOptions& options)
        : program_(program), machine_(machine), options_(options) {}

    /// The first one tries this kernel's configuration and says what is worked around: the others have both of it.
    base::Result<void> all(std::vector<const recipe::Recipe*> recipes) {
        if (recipes.empty()) return {};
        one(*recipes.front(), false);
        recipes.erase(recipes.begin());
        base::for_each(base::numbers_below(recipes.size()), base::usable_cpus(),
                       [&](std::size_t at) { one(*recipes[at], true); });
        if (!failure_) return {};
        return tl::make_unexpected(base::Error{failure_->kind, "some modules are not in the cache", "see above"});
    }

  private:
    /// Its modules into the cache.
    void one(const recipe::Recipe& recipe, bool quiet) {
        using Clock = std::chrono::steady_clock;
        std::vector<decltype(options_.interval)> intervals(1);
        if (!recipe.interval_s) intervals.emplace_back(live_interval);
        for (const auto& interval : intervals) {
            if (signals_.count() > 0) return fail(base::failed("ended by the user").value());
            auto options = options_;
            options.interval = interval;
            const auto begin = Clock::now();
            auto done =
                prepare(program_, machine_, recipe, options, Purpose::run_elsewhere)
                    .and_then([&](Preparation&& preparation) { return compile(machine_, preparation, quiet, false); });
            if (!done) return fail(std::move(done.error()));
            quiet = true;
            const std::scoped_lock lock(mutex_);
            std::cout << fmt::format("{:<22} {}\n", recipe.name + (interval ? " -i 1" : ""),
                                     base::format_duration(Clock::now() - begin))
                      << std::flush;
        }
    }

    /// This machine mostly lacks the same for all.
    void fail(base::Error error) {
        const std::scoped_lock lock(mutex_);
        if (!failure_ || failure_->what != error.what) base::show_error(error);
        if (!failure_) failure_ = std::move(error);
    }

    const recipe::Program& program_;
    const host::System& machine_;
    const MakeOptions& options_;
    const base::HeededSignals signals_;
    std::mutex mutex_;  ///< of all that is shown
    std::optional<base::Error> failure_;
};

}  // namespace

base::Result<void> warm(const recipe::Program& program, const host::System& machine,
                        const std::vector<recipe::Recipe>& recipes, const MakeOptions& options) {
    std::vector<const recipe::Recipe*> complete;
    for (const auto& recipe : recipes) {
        if (recipe.source != recipe::Source::script) continue;
        if (auto can = recipe::complete_arguments(recipe, options.arguments); !can) {
            base::print_message(fmt::format("{} is skipped: {}", recipe.name, can.error().what));
        } else {
            complete.push_back(&recipe);
        }
    }
    auto done = Warming(program, machine, options).all(std::move(complete));
    const auto cache = base::cache_directory();
    std::cout << fmt::format("the cache is {}, {} MB\n", cache.string(), (size_of(cache) + 999'999) / 1'000'000);
    return done;
}

}  // namespace stapgen::module
