#include "cli/compiling.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/text.h"
#include "cli/budget.h"
#include "cli/doctor_rows.h"
#include "cli/kept_modules.h"
#include "cli/on_terminal.h"
#include "cli/sha256.h"
#include "cli/telling.h"
#include "host/cures.h"
#include "host/symbol_table.h"
#include "host/trace_headers.h"
#include "launch/child_setup.h"
#include "render/script.h"
#include "render/standalone.h"
#include "render/tracepoints.h"

namespace stapgen::cli {

base::Result<std::string> script_of(const recipe::Recipe& recipe, const recipe::Arguments& arguments,
                                    std::chrono::milliseconds interval, bool aggregate) {
    auto text = base::read_file(recipe.folder / "script.stp");
    if (!text) return tl::make_unexpected(text.error());
    return render::render_script(recipe, *text, arguments, interval, aggregate);
}

namespace {

/// What --no-cure says, checked.
base::Result<host::CureChoice> choice_of(const MakeOptions& options, const std::vector<host::Cure>& table) {
    std::vector<std::string> known{"all"};
    for (const auto& cure : host::own_cures)
        known.emplace_back(cure.id);
    for (const auto& row : table)
        known.push_back(row.id);
    host::CureChoice choice;
    for (const auto& name : options.without_cures) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            const auto meant = base::did_you_mean(name, known);
            return base::bad_input(fmt::format("--no-cure: there is no cure '{}'", base::printable(name)),
                                   meant ? fmt::format("did you mean '{}'?", *meant)
                                         : fmt::format("there are {}", fmt::join(known, ", ")));
        }
        if (name == "all") {
            choice.none = true;
        } else {
            choice.without.insert(name);
        }
    }
    return choice;
}

host::Making making_of(const MakeOptions& options) {
    return options.dry_run ? host::Making::planned : host::Making::now;
}

void add_flag(launch::CompileJob& job, const std::string& flag) {
    auto& flags = job.options.kbuild["KCPPFLAGS"];
    flags += (flags.empty() ? "" : " ") + flag;
}

/// The compiler finds the tapset's C where stap finds the tapset. stap's own cache goes by the text that it has made,
/// in which the C is no more than its files' names: the macro is there to differ where the C does.
base::Result<void> add_c(const ProgramFiles& files, const std::string& debuginfo, std::string_view script,
                         launch::CompileJob& job) {
    constexpr std::size_t digits = 16;
    auto tapsets = read_tapsets(tapset_folders(files, debuginfo));
    if (!tapsets) return tl::make_unexpected(tapsets.error());
    const auto c = render::used_c(script, *tapsets);
    if (c.empty()) return {};
    add_flag(job, "-I" + files.tapsets.string());
    job.options.macros.push_back("STAPGEN_C=x" + sha256(c).substr(0, digits));
    return {};
}

base::Result<void> cure_headers(const Program& program, const host::System& machine, const MakeOptions& options,
                                std::string_view script, launch::CompileJob& job, std::vector<std::string>& notes) {
    auto tapsets = read_tapsets(tapset_folders(program.files, options.debuginfo));
    if (!tapsets) return tl::make_unexpected(tapsets.error());
    const auto tracepoints = render::tracepoints_of(script, *tapsets);
    if (!tracepoints) return {};
    auto headers = host::cure_trace_headers(machine, job.target, *tracepoints, job.cache, making_of(options));
    if (!headers) return tl::make_unexpected(headers.error());
    if (!*headers) return {};
    const auto& mounts = (*headers)->mounts;
    job.mounts.insert(job.mounts.end(), mounts.begin(), mounts.end());
    add_flag(job, (*headers)->flags);
    notes.push_back((*headers)->line);
    return {};
}

base::Result<void> cure(const Program& program, const host::System& machine, const MakeOptions& options,
                        std::string_view script, const doctor::Question& question, launch::CompileJob& job,
                        std::vector<std::string>& notes) {
    auto cured = host::apply_cures(question.cures, question.choice, job.target, job.cache, making_of(options));
    if (!cured) return tl::make_unexpected(cured.error());
    job.options.apply(*cured);
    notes = cured->lines;

    if (!question.choice.leaves_out("symbol-table")) {
        std::optional<std::filesystem::path> symbols;
        if (!options.symbols.empty()) symbols = options.symbols;
        auto map = host::cure_symbol_table(machine, job.target, symbols, job.cache, making_of(options));
        if (!map) return tl::make_unexpected(map.error());
        if (*map) {
            job.mounts = {(*map)->mount};
            notes.push_back((*map)->line);
        }
    }
    if (question.choice.leaves_out("trace-headers")) return {};
    return cure_headers(program, machine, options, script, job, notes);
}

}  // namespace

base::Result<doctor::Subject> subject_of(const Program& program, const recipe::Recipe& recipe,
                                         const std::string& debuginfo) {
    doctor::Subject subject{recipe.name, recipe.source == recipe::Source::network_counters, false, {}};
    if (subject.reads_counters) return subject;
    auto script = base::read_file(recipe.folder / "script.stp");
    if (!script) return tl::make_unexpected(script.error());
    auto tapsets = read_tapsets(tapset_folders(program.files, debuginfo));
    if (!tapsets) return tl::make_unexpected(tapsets.error());
    subject.probes_functions = render::probes_functions(*script, *tapsets);
    return subject;
}

base::Result<doctor::Question> question_of(const Program& program, const host::System& machine,
                                           const MakeOptions& options, Purpose purpose,
                                           std::vector<doctor::Subject> subjects) {
    auto table = host::load_cures(program.files.cures);
    if (!table) return tl::make_unexpected(table.error());
    auto choice = choice_of(options, *table);
    if (!choice) return tl::make_unexpected(choice.error());
    doctor::Question question;
    const char* debuginfod = std::getenv("DEBUGINFOD_URLS");
    question.target = host::inspect(machine, {options.stap, options.release, debuginfod == nullptr ? "" : debuginfod});
    question.subjects = std::move(subjects);
    question.to_load = purpose == Purpose::run_here;
    question.cures = host::needed_cures(*table, machine, question.target);
    question.choice = *std::move(choice);
    question.symbols_given = !options.symbols.empty();
    question.debuginfo_required = options.debuginfo == "require";
    question.cache = base::cache_directory();
    return question;
}

base::Result<Preparation> prepare(const Program& program, const host::System& machine, const recipe::Recipe& recipe,
                                  const MakeOptions& options, Purpose purpose) {
    auto interval = interval_of(options.interval, recipe);
    if (!interval) return tl::make_unexpected(interval.error());
    if (auto agreed = check_guru(recipe, options); !agreed) return tl::make_unexpected(agreed.error());
    auto script = script_of(recipe, options.arguments, *interval, options.aggregate);
    if (!script) return tl::make_unexpected(script.error());

    auto subject = subject_of(program, recipe, options.debuginfo);
    if (!subject) return tl::make_unexpected(subject.error());
    auto question = question_of(program, machine, options, purpose, {*subject});
    if (!question) return tl::make_unexpected(question.error());
    if (!options.dry_run) {
        const auto checks = doctor::examine(machine, *question);
        if (auto can = able(checks, *subject, question->target.distribution); !can) {
            return tl::make_unexpected(can.error());
        }
        base::make_cache(question->cache);
    }
    launch::CompileJob job;
    job.cache = question->cache;
    job.target = question->target;
    std::vector<std::string> notes;
    if (auto cured = cure(program, machine, options, *script, *question, job, notes); !cured) {
        return tl::make_unexpected(cured.error());
    }

    std::optional<base::PrivateDirectory> folder;
    job.options.script = recipe.name + ".stp";
    if (!options.dry_run) {
        auto made = base::PrivateDirectory::create();
        if (!made) return tl::make_unexpected(made.error());
        folder.emplace(*std::move(made));
        job.options.script = folder->path() / job.options.script;
        if (auto written = base::create_file(job.options.script, *script); !written) {
            return tl::make_unexpected(written.error());
        }
    }
    job.options.tapsets = tapset_folders(program.files, options.debuginfo);
    job.options.macros = recipe.macros;
    if (auto added = add_c(program.files, options.debuginfo, *script, job); !added) {
        return tl::make_unexpected(added.error());
    }
    if (!options.budget.empty()) {
        const auto budget = parse_budget(options.budget);
        if (!budget) return tl::make_unexpected(budget.error());
        for (auto& macro : guard_macros(*budget))
            job.options.macros.push_back(std::move(macro));
    }
    job.options.guru = recipe.guru;
    job.options.timing = options.cost;
    job.options.all_modules = options.all_modules;
    job.options.modules = options.modules;
    job.options.stap_options = options.stap_options;
    if (auto loaded = base::read_file("/proc/modules")) job.options.loaded_modules = *loaded;
    std::optional<KeptModules> kept;
    if (!question->choice.leaves_out("kept-module")) kept.emplace(machine, job, *script);
    return Preparation{std::move(folder), std::move(job),       std::move(notes),
                       options.aggregate, *std::move(question), std::move(kept)};
}

base::Result<launch::Compiled> compile(const host::System& machine, Preparation& preparation, bool quiet,
                                       bool verbose) {
    if (!quiet) {
        for (const auto& note : preparation.notes)
            tell(note);
    }
    if (preparation.kept) {
        if (auto module = preparation.kept->find()) {
            preparation.kept->use();
            if (verbose) tell(fmt::format("stap made {} for an earlier run", module->string()));
            return launch::Compiled{*std::move(module), {}};
        }
    }
    launch::Progress progress(std::cerr, progress_style(quiet), terminal_columns(STDERR_FILENO));
    progress.begin_passes(launch::Progress::Clock::now());
    preparation.job.progress = &progress;
    if (verbose) {
        preparation.job.stap_said = [](std::string_view line) { std::cerr << base::printable(line) << '\n'; };
    }
    // What stap leaves behind where it is killed goes with our folder.
    if (const auto folder = preparation.folder->path().string(); launch::stap_takes_as_tmpdir(folder)) {
        preparation.job.environment["TMPDIR"] = folder;
    }
    preparation.job.explanation = explanation(machine, preparation.question);
    auto compiled = launch::compile(preparation.job);
    preparation.job.progress = nullptr;
    if (!compiled) return compiled;
    // One with warnings is made again, so that they are told again.
    if (preparation.kept && compiled->warnings.empty()) preparation.kept->keep(compiled->module);
    if (!quiet) {
        for (const auto& warning : compiled->warnings)
            tell("warning: " + warning.cause);
    }
    return compiled;
}

}  // namespace stapgen::cli
