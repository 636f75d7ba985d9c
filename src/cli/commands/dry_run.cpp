// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/dry_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

/// The files named by the commands below that are not there yet.
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
        if (!fs::exists(place, error)) base::print_comment("the run writes this first: " + place.string());
    }
}

}  // namespace

void print_commands(const module::Preparation& preparation, const launch::LoadJob* load) {
    for (const auto* notes : {&preparation.workarounds.why, &preparation.notes}) {
        for (const auto& note : *notes)
            base::print_comment(note);
    }
    if (preparation.kept) {
        if (const auto module = preparation.kept->find()) {
            base::print_comment(fmt::format("stap is not started: an earlier run has made {}", module->string()));
        }
    }
    const auto& job = preparation.job;
    base::print_comment(fmt::format("{} is the output of 'stapgen render {}' with the same parameters{}",
                                    job.options.script.string(), job.options.script.stem().string(),
                                    preparation.aggregates ? " and --aggregate" : ""));
    print_what_is_made(job);
    const auto command = launch::compile_command(job);
    if (!command.mounts.empty()) base::print_comment("in a mount namespace of its own (unshare -m):");
    for (const auto& mount : command.mounts)
        base::print_command(base::shell_quoted({"mount", "--bind", mount.source.string(), mount.target.string()}));
    base::print_command(with_environment(command));
    if (!preparation.signing.empty()) {
        auto signing = preparation.signing;
        signing.emplace_back("MODULE.ko");
        base::print_comment("signs a copy under a name of its own:");
        base::print_command(base::shell_quoted(signing));
    }
    if (load != nullptr) base::print_command(with_environment(launch::load_command(*load)));
}

void print_ending(const session::MeasurePlan& plan) {
    if (plan.duration) base::print_comment(fmt::format("ends after {} (-d)", base::format_duration(*plan.duration)));
    if (plan.intervals) base::print_comment(fmt::format("ends after {} intervals (-n)", *plan.intervals));
    if (!plan.output) return;
    auto kept = fmt::format("keeps all lines in {} (-o)", plan.output->string());
    if (plan.rotation.bytes > 0) {
        kept += fmt::format(", and goes on in {} at {} bytes (--rotate)",
                            recording::part_path(*plan.output, 1).string(), plan.rotation.bytes);
    }
    base::print_comment(kept);
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
