// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/dry_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"

namespace stapgen::cli {

namespace {

namespace fs = std::filesystem;

std::string with_environment(const launch::Command& command) {
    std::vector<std::string> words{"env"};
    for (const auto& [name, value] : command.environment)
        words.push_back(name + "=" + value);
    words.insert(words.end(), command.argv.begin(), command.argv.end());
    return base::shell_quoted(words);
}

/// Of what the commands below name, what is not there yet.
void print_what_is_made(const launch::CompileJob& job) {
    std::vector<fs::path> made;
    if (!job.options.runtime.empty()) made.push_back(job.options.runtime);
    for (const auto& mount : job.mounts) {
        for (const auto& place : {mount.source, mount.target}) {
            if (place.string().starts_with(job.cache.string())) made.push_back(place);
        }
    }
    for (const auto& place : made) {
        std::error_code error;
        if (!fs::exists(place, error)) std::cout << "# the run writes this first: " << place.string() << '\n';
    }
}

}  // namespace

void print_commands(const module::Preparation& preparation, const launch::LoadJob* load) {
    for (const auto& note : preparation.notes)
        std::cout << "# " << note << '\n';
    if (preparation.kept) {
        if (const auto module = preparation.kept->find()) {
            std::cout << "# stap made " << module->string() << " for an earlier run; it is not started again\n";
        }
    }
    const auto& job = preparation.job;
    std::cout << "# " << job.options.script.string() << " is the output of 'stapgen render' with the same parameters"
              << (preparation.aggregates ? " and --aggregate\n" : "\n");
    print_what_is_made(job);
    const auto command = launch::compile_command(job);
    if (!command.mounts.empty()) std::cout << "# in a mount namespace of its own (unshare -m):\n";
    for (const auto& mount : command.mounts) {
        std::cout << base::shell_quoted({"mount", "--bind", mount.source.string(), mount.target.string()}) << '\n';
    }
    std::cout << with_environment(command) << '\n';
    if (load != nullptr) std::cout << with_environment(launch::load_command(*load)) << '\n';
}

void print_ending(const session::MeasurePlan& plan) {
    if (plan.duration) std::cout << fmt::format("# ends after {} (-d)\n", base::format_duration(*plan.duration));
    if (plan.intervals) std::cout << fmt::format("# ends after {} intervals (-n)\n", *plan.intervals);
    if (!plan.output) return;
    std::cout << fmt::format("# keeps all lines in {} (-o)", plan.output->string());
    if (plan.rotation.bytes > 0) {
        std::cout << fmt::format(", and goes on in {} at {} bytes (--rotate)",
                                 recording::part_path(*plan.output, 1).string(), plan.rotation.bytes);
    }
    std::cout << '\n';
    if (!plan.quiet) warn_if_impossible(*plan.output, "--output", false);
}

void warn_if_impossible(const fs::path& file, std::string_view option, bool replaces) {
    std::error_code error;
    const auto status = fs::symlink_status(file, error);
    const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::string why;
    if (fs::exists(status) && (!replaces || fs::is_directory(status))) {
        why = "it exists";
    } else if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        why = std::strerror(errno);
    }
    if (!why.empty()) base::print_message(fmt::format("{} {} cannot be created: {}", option, file.string(), why));
}

}  // namespace stapgen::cli
