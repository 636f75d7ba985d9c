// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/archives.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bundle/copies.h"
#include "bundle/show.h"
#include "bundle/walk.h"
#include "session/measured_facts.h"
#include "session/replay.h"

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

/// What the archive's drops and recordings say, with names by its own symbols where the user gives none. Symbols that
/// contradict the drops name nothing; that they do is a conflict. Errors: those of copies_of() and session::load().
base::Result<std::vector<kinds::Measured>> results_of(const std::filesystem::path& archive, bundle::Evidence& evidence,
                                                      const session::Presentation& presentation,
                                                      const ReportOptions& options) {
    if (evidence.results.empty()) return std::vector<kinds::Measured>();
    std::set<std::string> wanted;
    for (const auto* paths : {&evidence.results, &evidence.symbols, &evidence.modules})
        wanted.insert(paths->begin(), paths->end());
    const auto copies = bundle::copies_of(archive, wanted);
    if (!copies) return tl::make_unexpected(copies.error());
    const auto copied = [&](const std::vector<std::string>& paths) {
        std::vector<std::filesystem::path> files;
        for (const auto& path : paths) {
            if (const auto found = copies->files.find(path); found != copies->files.end())
                files.push_back(found->second);
        }
        return files;
    };
    const auto files = copied(evidence.results);
    if (files.empty()) return std::vector<kinds::Measured>();
    const auto load = [&](const symbols::NameSources& names) {
        auto results = session::load(files, presentation, names, options.replay);
        // A reader knows the archive's paths, not those of the copies.
        const auto put_paths = [&](std::string& text) {
            for (const auto& [inside, copy] : copies->files) {
                const auto path = copy.string();
                for (auto at = text.find(path); at != text.npos; at = text.find(path, at + inside.size()))
                    text.replace(at, path.size(), inside);
            }
        };
        if (!results) {
            put_paths(results.error().what);
            return results;
        }
        for (auto& measured : *results) {
            for (auto& note : measured.notes)
                put_paths(note.text);
        }
        return results;
    };
    if (!options.names.empty()) return load(options.names);
    symbols::NameSources names;
    names.files = copied(evidence.symbols);
    if (names.files.empty()) return load({});
    if (const auto modules = copied(evidence.modules); !modules.empty()) names.modules = modules.front();
    if (evidence.conflicts.empty()) names.release = evidence.release;
    // A panic's may be of an earlier boot: the drops decide.
    if (evidence.kaslr_offsets.size() == 1) {
        names.kaslr_offset = *evidence.kaslr_offsets.begin();
        if (auto results = load(names)) return results;
        names.kaslr_offset.reset();
    }
    auto results = load(names);
    if (results) return results;
    evidence.refused_names = results.error().what;
    return load({});
}

}  // namespace

base::Result<std::vector<std::filesystem::path>> archives_among(const std::vector<std::string>& typed) {
    std::vector<std::filesystem::path> archives;
    for (const auto& word : typed) {
        if (is_support_archive(word)) archives.emplace_back(word);
    }
    if (!archives.empty() && archives.size() != typed.size()) {
        return base::bad_input(
            fmt::format("{} is a support archive, the other files are not", base::printable(archives.front().string())),
            "report archives by themselves");
    }
    if (archives.size() > 2)
        return base::bad_input("more than two archives", "give one, or an older and a newer one of a host");
    return archives;
}

base::Result<void> report_archives(const Call& call, const std::vector<std::filesystem::path>& archives,
                                   const ReportOptions& options, const session::Presentation& presentation) {
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
                                   "to report recordings or the output of tools, give the files");
        }
        all.push_back(*std::move(evidence));
    }
    auto& newest = all.back();
    const auto* before = all.size() > 1 ? &all.front() : nullptr;
    auto results = results_of(archives.back(), newest, presentation, options);
    if (!results) return tl::make_unexpected(results.error());
    const bundle::Report report{archives.back().string(), &newest, before, bundle::findings_of(*rules, newest, before)};
    if (format == "json") {
        bundle::write_json(report, std::cout);
    } else {
        const auto width = base::terminal_columns(STDOUT_FILENO);
        bundle::write_text(report, width == 0 ? base::default_width : width, std::cout);
    }
    if (results->empty()) return {};
    if (format == "table") std::cout << '\n';
    for (auto& summary : *results)
        session::put_meanings(summary, call.program.catalog);
    session::present(std::cout, *results, presentation);
    return {};
}

}  // namespace stapgen::cli
