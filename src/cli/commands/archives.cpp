// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/archives.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bundle/show.h"
#include "bundle/walk.h"

namespace stapgen::cli {

namespace {

bool has_folders(const std::filesystem::path& folder) {
    return std::ranges::any_of(base::entries_of(folder), [](const auto& entry) {
        std::error_code error;
        return std::filesystem::is_directory(std::filesystem::symlink_status(entry, error));
    });
}

bool is_support_archive(const std::string& typed) {
    if (typed == "-") return false;
    std::error_code error;
    if (std::filesystem::is_directory(typed, error)) return has_folders(typed);
    return std::filesystem::is_regular_file(typed, error) && bundle::is_archive(typed).value_or(false);
}

}  // namespace

base::Result<std::vector<std::filesystem::path>> archives_among(const std::vector<std::string>& typed) {
    std::vector<std::filesystem::path> archives;
    for (const auto& word : typed) {
        if (is_support_archive(word)) archives.emplace_back(word);
    }
    if (!archives.empty() && archives.size() != typed.size()) {
        return base::bad_input(fmt::format("{} is a support archive, and other files are none",
                                           base::printable(archives.front().string())),
                               "report archives by themselves");
    }
    if (archives.size() > 2)
        return base::bad_input("these are more than two archives", "give one, or an older and a newer one of a host");
    return archives;
}

base::Result<void> report_archives(const Call& call, const std::vector<std::filesystem::path>& archives,
                                   const ReportOptions& options) {
    const auto& format = options.present.format;
    if (format != "table" && format != "json")
        return base::bad_input(fmt::format("--format {}: findings of an archive are a table or JSON", format),
                               "--format json is for programs");
    const auto rules = bundle::read_rules(call.program.files.kernels.parent_path() / "findings.toml");
    if (!rules) return tl::make_unexpected(rules.error());
    std::vector<bundle::Evidence> all;
    for (const auto& archive : archives) {
        auto evidence = bundle::read_evidence(archive, bundle::texts_of(*rules));
        if (!evidence) return tl::make_unexpected(evidence.error());
        if (evidence->read == 0) {
            return base::bad_input(fmt::format("{}: none of its {} files has counters, settings or a kernel's log",
                                               base::printable(archive.string()), evidence->walked.files),
                                   "for recordings and the output of tools name the files");
        }
        all.push_back(*std::move(evidence));
    }
    const auto& newest = all.back();
    const auto* before = all.size() > 1 ? &all.front() : nullptr;
    const bundle::Report report{archives.back().string(), &newest, before, bundle::findings_of(*rules, newest, before)};
    if (format == "json") {
        bundle::write_json(report, std::cout);
    } else {
        const auto width = base::terminal_columns(STDOUT_FILENO);
        bundle::write_text(report, width == 0 ? base::default_width : width, std::cout);
    }
    return {};
}

}  // namespace stapgen::cli
