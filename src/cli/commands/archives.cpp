// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/archives.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "base/budget.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bundle/copies.h"
#include "bundle/show.h"
#include "bundle/walk.h"
#include "recording/reader.h"
#include "session/measured_facts.h"
#include "session/replay.h"
#include "table/counter_source.h"

namespace stapgen::cli {

namespace {

bool has_folders(const std::filesystem::path& folder) {
    return std::ranges::any_of(base::entries_of(folder), [](const auto& entry) {
        std::error_code error;
        return std::filesystem::is_directory(std::filesystem::symlink_status(entry, error));
    });
}

std::shared_ptr<base::Budget> budget_of(const std::filesystem::path& archive) {
    return std::make_shared<base::Budget>(base::printable(archive.string()), base::limits::unpacked_bytes,
                                          base::limits::cpu_ns);
}

bool is_support_archive(const std::string& typed) {
    if (typed == "-") return false;
    std::error_code error;
    if (std::filesystem::is_directory(typed, error)) return has_folders(typed);
    return std::filesystem::is_regular_file(typed, error) && bundle::is_archive(typed).value_or(false);
}

/// What an archive's drops and recordings say, with names by its own symbols where the user gives none. What of it
/// cannot be read becomes a line of the evidence, and the rest is there.
class Results {
  public:
    Results(bundle::Evidence& evidence, const session::Presentation& presentation, const ReportOptions& options,
            const std::shared_ptr<base::Budget>& budget)
        : evidence_(evidence), presentation_(presentation), options_(options), replay_(options.replay) {
        replay_.budget = budget;
    }

    std::vector<kinds::Measured> read(const std::filesystem::path& archive) {
        if (evidence_.results.empty()) return {};
        std::set<std::string> wanted;
        for (const auto* paths : {&evidence_.results, &evidence_.symbols, &evidence_.modules})
            wanted.insert(paths->begin(), paths->end());
        auto made = bundle::copies_of(archive, wanted, replay_.budget);
        if (!made) {
            note(made.error().what);
            return {};
        }
        copies_.emplace(*std::move(made));
        for (const auto& why : copies_->left_out)
            note(why);
        if (const auto& over = replay_.budget->over()) note(over->what);
        // The same part of a run twice, or what is no text: the others are read.
        std::vector<std::filesystem::path> files;
        for (const auto& file : copied(evidence_.results)) {
            files.push_back(file);
            const auto fits = recording::runs_of(files, replay_.budget);
            if (fits) continue;
            note(fits.error().what);
            files.pop_back();
        }
        return files.empty() ? std::vector<kinds::Measured>() : read_named(files);
    }

  private:
    using Files = std::vector<std::filesystem::path>;

    void note(std::string why) {
        auto& said = evidence_.walked.damaged;
        why = with_paths(std::move(why));
        if (std::ranges::find(said, why) == said.end()) said.push_back(std::move(why));
    }

    [[nodiscard]] Files copied(const std::vector<std::string>& paths) const {
        Files files;
        for (const auto& path : paths) {
            if (const auto found = copies_->files.find(path); found != copies_->files.end())
                files.push_back(found->second);
        }
        return files;
    }

    /// A reader knows the archive's paths, not those of the copies.
    [[nodiscard]] std::string with_paths(std::string text) const {
        if (!copies_) return text;
        for (const auto& [inside, copy] : copies_->files) {
            const auto path = copy.string();
            for (auto at = text.find(path); at != text.npos; at = text.find(path, at + inside.size()))
                text.replace(at, path.size(), inside);
        }
        return text;
    }

    [[nodiscard]] base::Result<std::vector<kinds::Measured>> load(const Files& files,
                                                                  const symbols::NameSources& names) const {
        auto results = session::load(files, presentation_, names, replay_);
        if (!results) {
            results.error().what = with_paths(std::move(results.error().what));
            return results;
        }
        for (auto& measured : *results) {
            for (auto& said : measured.notes)
                said.text = with_paths(std::move(said.text));
        }
        return results;
    }

    /// Symbols that contradict the drops name nothing; that they do is said.
    std::vector<kinds::Measured> read_named(const Files& files) {
        if (!options_.names.empty()) return read_all(files, options_.names);
        symbols::NameSources none;
        none.fetch = options_.names.fetch;
        auto names = none;
        names.files = copied(evidence_.symbols);
        if (names.files.empty()) return read_all(files, none);
        if (const auto modules = copied(evidence_.modules); !modules.empty()) names.modules = modules.front();
        if (evidence_.conflicts.empty()) names.release = evidence_.release;
        // A panic's may be of an earlier boot: the drops decide.
        if (evidence_.kaslr_offsets.size() == 1) {
            names.kaslr_offset = *evidence_.kaslr_offsets.begin();
            if (auto results = load(files, names)) return *std::move(results);
            names.kaslr_offset.reset();
        }
        auto named = load(files, names);
        if (named) return *std::move(named);
        if (auto results = load(files, none)) {
            evidence_.refused_names = named.error().what;
            return *std::move(results);
        }
        return read_all(files, names);
    }

    std::vector<kinds::Measured> read_all(const Files& files, const symbols::NameSources& names) {
        if (auto results = load(files, names)) return *std::move(results);
        // One of them is in the way: each by itself.
        std::vector<kinds::Measured> all;
        for (const auto& file : files) {
            auto results = load({file}, names);
            if (!results) {
                note(results.error().what);
                continue;
            }
            for (auto& measured : *results)
                session::add_to(all, std::move(measured));
        }
        session::finish_sums(all, presentation_);
        return all;
    }

    bundle::Evidence& evidence_;
    const session::Presentation& presentation_;
    const ReportOptions& options_;
    session::ReplayOptions replay_;
    std::optional<bundle::Copies> copies_;
};

base::Result<std::vector<bundle::Rule>> rules_of(const Call& call) {
    return bundle::read_rules(call.program.files.kernels.parent_path() / "findings.toml");
}

base::Result<void> check_findings_format(const ReportOptions& options) {
    const auto& format = options.present.format;
    if (format == "table" || format == "json" || format == "ndjson" || format == "csv") return {};
    return base::bad_input(fmt::format("--format {}: findings of an archive are a table, JSON, ndjson or CSV", format),
                           "--format json is for programs");
}

void write_findings(const bundle::Report& report, const ReportOptions& options) {
    if (options.present.format.ends_with("json")) return bundle::write_json(report, std::cout);
    if (options.present.format == "csv") return bundle::write_csv(report, std::cout);
    const auto width = base::terminal_columns(STDOUT_FILENO);
    bundle::write_text(report, width == 0 ? base::default_width : width, std::cout);
}

/// An archive as far as it was read, and the budget for the rest.
struct ReadArchive {
    std::filesystem::path path;
    std::shared_ptr<base::Budget> budget;
    bundle::Evidence evidence;
};

base::Result<ReadArchive> read_archive(const std::filesystem::path& path, const std::vector<std::string>& texts) {
    auto budget = budget_of(path);
    STAPGEN_LET(auto evidence, bundle::read_evidence(path, texts, budget));
    return ReadArchive{path, std::move(budget), std::move(evidence)};
}

base::Result<void> check_has_read(const ReadArchive& archive) {
    if (archive.evidence.read > 0) return {};
    const auto& damaged = archive.evidence.walked.damaged;
    const auto name = base::printable(archive.path.string());
    return base::bad_input(
        damaged.empty() ? fmt::format("{}: none of its {} files has counters, settings or a kernel's log", name,
                                      archive.evidence.walked.files)
                        : fmt::format("{}: nothing in it could be read: {}", name, base::printable(damaged.front())),
        "to report recordings or the output of tools, give the files");
}

/// One, or an older and a newer one.
base::Result<void> report_read(const Call& call, std::vector<ReadArchive> all, const std::vector<bundle::Rule>& rules,
                               const ReportOptions& options, const session::Presentation& presentation) {
    STAPGEN_LET(const auto meanings, recipe::find_recipe(call.program.catalog, "softnet"));
    auto& newest = all.back().evidence;
    const auto* before = all.size() > 1 ? &all.front().evidence : nullptr;
    const auto& path = all.back().path;
    if (before != nullptr && !table::CounterSource{.host = before->host}.may_be({.host = newest.host})) {
        return base::bad_input(fmt::format("the archives are of two hosts, {} and {}", base::printable(before->host),
                                           base::printable(newest.host)),
                               "report each by itself");
    }
    const auto fallen = before == nullptr ? std::string() : bundle::fallen_counter(*before, newest);
    if (!fallen.empty()) before = nullptr;
    const bool is_csv = options.present.format == "csv";
    std::vector<kinds::Measured> results;
    if (!is_csv) results = Results(newest, presentation, options, all.back().budget).read(path);
    bundle::Report report{path.string(), &newest, before, bundle::findings_of(rules, newest, before)};
    report.losses = bundle::other_losses(meanings, report.findings, newest, before);
    report.fallen = fallen;
    write_findings(report, options);
    if (is_csv && !newest.results.empty())
        base::print_message("drops and recordings in the archive are not in the CSV: --format json has them");
    if (results.empty()) return {};
    if (options.present.format == "table") std::cout << '\n';
    for (auto& summary : results)
        session::put_meanings(summary, call.program.catalog);
    session::present(std::cout, results, presentation);
    return {};
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

bundle::LogText log_of_stdin(const Call& call) {
    const auto rules = rules_of(call);
    return {"stdin", rules ? bundle::texts_of(*rules) : std::vector<std::string>()};
}

base::Result<void> report_log(const Call& call, const bundle::LogText& log, const ReportOptions& options) {
    STAPGEN_TRY(check_findings_format(options));
    STAPGEN_LET(const auto rules, rules_of(call));
    const auto& evidence = log.evidence();
    write_findings({"stdin", &evidence, nullptr, bundle::findings_of(rules, evidence, nullptr)}, options);
    return {};
}

base::Result<bool> report_logs(const Call& call, const std::vector<std::string>& typed, const ReportOptions& options,
                               const session::Presentation& presentation) {
    constexpr std::size_t most = 2;
    if (typed.empty() || typed.size() > most) return false;
    const auto rules = rules_of(call);
    const auto texts = rules ? bundle::texts_of(*rules) : std::vector<std::string>();
    std::vector<ReadArchive> logs;
    for (const auto& word : typed) {
        if (word == "-") return false;
        auto log = read_archive(word, texts);
        if (!log || log->evidence.log_lines == 0) return false;
        logs.push_back(*std::move(log));
    }
    STAPGEN_TRY(check_findings_format(options));
    STAPGEN_TRY(rules);
    for (const auto& log : logs)
        STAPGEN_TRY(check_has_read(log));
    return report_read(call, std::move(logs), *rules, options, presentation).map([] { return true; });
}

base::Result<void> report_archives(const Call& call, const std::vector<std::filesystem::path>& archives,
                                   const ReportOptions& options, const session::Presentation& presentation) {
    STAPGEN_TRY(check_findings_format(options));
    STAPGEN_LET(const auto rules, rules_of(call));
    std::vector<ReadArchive> all;
    for (const auto& archive : archives) {
        STAPGEN_LET(auto read, read_archive(archive, bundle::texts_of(rules)));
        STAPGEN_TRY(check_has_read(read));
        all.push_back(std::move(read));
    }
    return report_read(call, std::move(all), rules, options, presentation);
}

}  // namespace stapgen::cli
