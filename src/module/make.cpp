// SPDX-License-Identifier: GPL-2.0-or-later
#include "module/make.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "base/limits.h"
#include "base/terminal.h"
#include "base/text.h"
#include "host/facts.h"
#include "host/keys.h"
#include "host/workarounds.h"
#include "launch/child_setup.h"
#include "launch/progress.h"
#include "overhead/overhead.h"
#include "render/parts.h"
#include "render/script.h"
#include "render/tapset_files.h"
#include "render/tracepoints.h"
#include "schema/schema.h"

namespace stapgen::module {

base::Result<void> check_guru(const recipe::Recipe& recipe, const MakeOptions& options) {
    const auto asks = std::ranges::find_if(options.stap_options, launch::asks_for_guru);
    if (asks != options.stap_options.end()) {
        return base::bad_input(
            fmt::format("--stap-option {}: only a recipe may ask for guru mode", base::printable(*asks)),
            recipe.guru
                ? "this recipe does: give --guru"
                : "for a script with its own C, set 'guru = true' under [stap] in recipe.toml and run it with --guru");
    }
    if (recipe.guru && !options.guru) {
        return base::bad_input(
            fmt::format("the script of {} contains C, which runs in the kernel unchecked", recipe.name),
            fmt::format("read {}; if you trust it, give --guru", (recipe.folder / "script.stp").string()));
    }
    return {};
}

std::chrono::milliseconds interval_of(const recipe::Recipe& recipe, const MakeOptions& options) {
    return options.interval.value_or(std::chrono::seconds(recipe.interval_s.value_or(0)));
}

base::Result<std::string> script_of(const recipe::Recipe& recipe, const MakeOptions& options, bool numbered) {
    STAPGEN_LET(auto text, base::read_found(recipe.folder / "script.stp", base::limits::recipe_bytes));
    return render::render_script(recipe, text, options.arguments, interval_of(recipe, options),
                                 {options.aggregate, options.filters, numbered, options.by, options.keep.has_value()});
}

namespace {

/// The names of --no-workaround, checked.
base::Result<host::WorkaroundChoice> choice_of(const MakeOptions& options, const std::vector<host::Workaround>& table) {
    std::vector<std::string> known{"all"};
    for (const auto& workaround : host::own_workarounds)
        known.emplace_back(workaround.id);
    for (const auto& row : table) {
        if (!row.is_fault()) known.push_back(row.id);
    }
    host::WorkaroundChoice choice;
    for (const auto& name : options.without_workarounds) {
        if (std::ranges::find(known, name) == known.end()) {
            return base::bad_input(fmt::format("--no-workaround: there is no workaround '{}'", base::printable(name)),
                                   base::meant_hint(name, known, fmt::format("there are {}", fmt::join(known, ", "))));
        }
        if (name == "all") {
            choice.none = true;
        } else {
            choice.without.insert(name);
        }
    }
    return choice;
}

void add_flags(launch::CompileJob& job, const std::string& flags) {
    auto& all = job.options.kbuild["KCPPFLAGS"];
    all += (all.empty() ? "" : " ") + flags;
}

base::Result<void> use(std::string_view id, base::Result<std::optional<host::ProcessWorkaround>> made,
                       launch::CompileJob& job, UsedWorkarounds& used) {
    STAPGEN_TRY(made);
    if (!*made) return {};
    auto& [mounts, flags, line] = **made;
    job.mounts.insert(job.mounts.end(), mounts.begin(), mounts.end());
    if (!flags.empty()) add_flags(job, flags);
    used.ids.emplace_back(id);
    used.why.push_back(std::move(line));
    return {};
}

/// The compiler finds the tapset's C where stap finds the tapset, in scripts without any C too: stap tries a kernel's
/// configuration and headers anew for other flags. stap's own cache goes by the text that it has made, in which the C
/// is no more than its files' names: the macro is there to differ where the C does.
base::Result<void> add_c(const recipe::ProgramFiles& files, const std::string& debuginfo, std::string_view script,
                         launch::CompileJob& job) {
    constexpr std::size_t digits = 16;
    STAPGEN_LET(auto tapsets, render::read_tapsets(render::tapset_folders(files, debuginfo)));
    add_flags(job, "-I" + files.tapsets.string());
    const auto c = render::used_c(script, tapsets);
    if (c.empty()) return {};
    job.options.macros.push_back("STAPGEN_C=x" + base::sha256(c).substr(0, digits));
    return {};
}

base::Result<void> workaround(const recipe::Program& program, const host::System& machine, const MakeOptions& options,
                              std::string_view script, const doctor::Question& question, launch::CompileJob& job,
                              UsedWorkarounds& used) {
    const auto making = options.dry_run ? host::Making::planned : host::Making::now;
    STAPGEN_LET(auto applied,
                host::apply_workarounds(question.workarounds, question.choice, job.target, job.cache, making));
    job.options.apply(applied);
    used = {std::move(applied.ids), std::move(applied.lines)};

    if (!question.choice.leaves_out("symbol-table")) {
        std::optional<std::filesystem::path> symbols;
        if (!options.symbols.empty()) symbols = options.symbols;
        auto made = host::provide_symbol_table(machine, job.target, symbols, job.cache, making);
        if (auto done = use("symbol-table", std::move(made), job, used); !done) return done;
    }
    if (question.choice.leaves_out("trace-headers")) return {};
    STAPGEN_LET(auto tapsets, render::read_tapsets(render::tapset_folders(program.files, options.debuginfo)));
    const auto tracepoints = render::tracepoints_of(script, tapsets);
    if (!tracepoints) return {};
    return use("trace-headers", host::provide_trace_headers(machine, job.target, *tracepoints, job.cache, making), job,
               used);
}

/// stap advises debuginfo for an alias that is not there.
base::Result<void> check_aliases(const recipe::Program& program, const recipe::Recipe& recipe,
                                 const std::string& debuginfo, const std::string& script) {
    STAPGEN_LET(const auto tapsets, render::read_tapsets(render::tapset_folders(program.files, debuginfo)));
    std::set<std::string> known;
    for (const auto& tapset : tapsets)
        known.merge(render::alias_names(tapset.text));
    for (std::string name : render::alias_names(script)) {
        if (known.contains(name)) continue;
        for (const std::string_view suffix : {".return", ".call", ".inline"}) {
            if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
        }
        if (known.contains(name) || script.find(fmt::format("probe {} =", name)) != std::string::npos) continue;
        return base::bad_input(
            fmt::format("{}: there is no probe alias {}", (recipe.folder / "script.stp").string(), name),
            base::meant_hint(name, {known.begin(), known.end()}, "docs/reference/recipes.md lists them"));
    }
    return {};
}

}  // namespace

base::Result<doctor::Subject> subject_of(const recipe::Program& program, const recipe::Recipe& recipe,
                                         const MakeOptions& options) {
    doctor::Subject subject{recipe.name, recipe.source == recipe::Source::network_counters, false, false, {}};
    if (subject.reads_counters) return subject;
    auto script = script_of(recipe, options);
    // One that has no values yet for what it needs is asked about as it stands.
    if (!script) script = base::read_found(recipe.folder / "script.stp", base::limits::recipe_bytes);
    STAPGEN_TRY(script);
    STAPGEN_LET(auto tapsets, render::read_tapsets(render::tapset_folders(program.files, options.debuginfo)));
    subject.probes_functions = render::probes_functions(*script, tapsets, false);
    subject.has_substitutes = render::probes_functions(*script, tapsets, true);
    return subject;
}

base::Result<doctor::Question> question_of(const recipe::Program& program, const host::System& machine,
                                           const MakeOptions& options, Purpose purpose,
                                           std::vector<doctor::Subject> subjects) {
    STAPGEN_LET(auto table, host::load_workarounds(program.files.workarounds));
    STAPGEN_LET(auto choice, choice_of(options, table));
    doctor::Question question;
    const char* debuginfod = std::getenv("DEBUGINFOD_URLS");
    question.target = host::inspect(machine, {options.stap, options.release, debuginfod == nullptr ? "" : debuginfod});
    question.subjects = std::move(subjects);
    // From then on kernels have all tracepoints that functions stand in for.
    if (recipe::is_before(question.target.release, "4.16"))
        for (auto& subject : question.subjects)
            subject.probes_functions = subject.has_substitutes;
    question.to_load = purpose == Purpose::run_here;
    question.workarounds = host::needed_workarounds(table, machine, question.target);
    question.choice = std::move(choice);
    question.symbols = options.symbols;
    question.debuginfo_required = options.debuginfo == "require";
    question.cache = base::cache_directory();
    question.is_signed = options.sign.has_value();
    return question;
}

base::Result<doctor::Question> question_of(const host::System& machine, const launch::LoadableModule& module,
                                           const std::string& file) {
    const auto& info = module.info;
    if (!info.systemtap) {
        return base::bad_input(fmt::format("{} was not made by SystemTap", file), "name a file made by stapgen build");
    }
    const auto header = schema::parse_header(info.header);
    doctor::Question question;
    question.target = host::inspect(machine, {});
    question.subjects = {{.name = file}};
    question.to_compile = false;
    question.module = {file, info.name, header ? header->recipe : "", info.release, info.architecture};
    question.is_signed = info.is_signed;
    if (info.is_signed) question.signer = host::signer_of(machine, module.path);
    return question;
}

launch::Explanation explanation(const host::System& machine, const doctor::Question& question) {
    return [&](std::string_view checks) { return doctor::explanation_of(machine, question, checks); };
}

base::Result<Preparation> prepare(const recipe::Program& program, const host::System& machine,
                                  const recipe::Recipe& recipe, const MakeOptions& options, Purpose purpose) {
    STAPGEN_TRY(check_guru(recipe, options));
    STAPGEN_LET(auto script, script_of(recipe, options));

    STAPGEN_TRY(check_aliases(program, recipe, options.debuginfo, script));
    STAPGEN_LET(auto subject, subject_of(program, recipe, options));
    STAPGEN_LET(auto question, question_of(program, machine, options, purpose, {subject}));
    if (!options.dry_run) {
        const auto checks = doctor::examine(machine, question);
        STAPGEN_TRY(doctor::able(checks, question.subjects.front(), question.target.distribution));
        base::make_cache(question.cache);
    }
    STAPGEN_LET(const auto complete, recipe::complete_arguments(recipe, options.arguments));
    STAPGEN_LET(const auto recipe_hash, recipe::hash_of(recipe, complete));
    launch::CompileJob job;
    job.cache = question.cache;
    job.target = question.target;
    UsedWorkarounds used;
    STAPGEN_TRY(workaround(program, machine, options, script, question, job, used));
    // A test knows that stapgen's own scripts meet none but those that each script meets.
    const bool is_ours = recipe.folder.parent_path() == program.files.templates;
    auto notes = host::faults_met(question.workarounds, is_ours ? "" : render::without_comments(script));
    if (purpose == Purpose::run_here) {
        const auto kernels = recipe::kernels_of(recipe, program.files);
        auto lost = kernels ? doctor::lost_to_interrupt_threads(machine, *kernels) : std::string();
        if (!lost.empty()) notes.push_back(std::move(lost));
    }

    std::optional<base::PrivateDirectory> folder;
    job.options.script = recipe.name + ".stp";
    if (!options.dry_run) {
        STAPGEN_LET(auto made, base::PrivateDirectory::create());
        folder.emplace(std::move(made));
        job.options.script = folder->path() / job.options.script;
        STAPGEN_TRY(base::create_file(job.options.script, script));
    }
    std::vector<std::string> signing;
    if (options.sign) {
        STAPGEN_LET(auto argv, signing_argv(machine, job.target, *options.sign));
        signing = std::move(argv);
    }
    job.options.tapsets = render::tapset_folders(program.files, options.debuginfo);
    job.options.macros = render::macros_of(recipe, options.arguments, options.keep.value_or(0));
    STAPGEN_TRY(add_c(program.files, options.debuginfo, script, job));
    if (options.budget) {
        for (auto& macro : overhead::guard_macros(*options.budget))
            job.options.macros.push_back(std::move(macro));
    }
    // Whoever runs it elsewhere has no recipe; what is made here is the same module, so that either finds it kept.
    job.options.recipe_hash = recipe_hash;
    job.options.guru = recipe.guru;
    job.options.timing = options.cost;
    job.options.all_modules = options.all_modules;
    job.options.modules = options.modules;
    job.options.stap_options = options.stap_options;
    for (auto& module : host::read_loaded_modules(machine))
        job.options.loaded_modules.push_back(std::move(module.name));
    std::optional<KeptModules> kept;
    if (!question.choice.leaves_out("kept-module")) kept.emplace(machine, job, script);
    const auto numbered = script_of(recipe, options, true);
    return Preparation{std::move(folder),
                       std::move(job),
                       recipe.folder / "script.stp",
                       render::source_lines(numbered.value_or(std::string())),
                       std::move(used),
                       std::move(notes),
                       options.aggregate,
                       recipe_hash,
                       std::move(question),
                       std::move(kept),
                       std::move(signing),
                       purpose == Purpose::run_here ? Name::of_this_process : Name::at_random};
}

namespace {

/// Where the message names a line of the script, it names that of script.stp. The column is right unless a value was
/// put in before it.
std::string in_source(std::string message, const Preparation& preparation) {
    const auto name = preparation.job.options.script.filename().string() + ":";
    for (auto at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
        const auto begin = at + name.size();
        const auto end = std::min(message.find_first_not_of("0123456789", begin), message.size());
        const auto line = base::to_unsigned(std::string_view(message).substr(begin, end - begin)).value_or(0);
        if (line == 0 || line > preparation.lines.size()) continue;
        const auto place = fmt::format("{}:{}", preparation.source.string(), preparation.lines[line - 1]);
        message.replace(at, end - at, place);
        at += place.size();
    }
    return message;
}

/// The module as stap makes it: kept of an earlier run, or made now.
base::Result<std::filesystem::path> make_unsigned(const host::System& machine, Preparation& preparation, bool quiet,
                                                  bool verbose) {
    if (preparation.kept) {
        if (auto module = preparation.kept->find()) {
            preparation.kept->use();
            if (verbose) base::print_message(fmt::format("stap built {} for an earlier run", module->string()));
            return *std::move(module);
        }
    }
    launch::Progress progress(std::cerr, launch::progress_style(quiet), base::terminal_columns(STDERR_FILENO));
    progress.begin_passes(launch::Progress::Clock::now());
    preparation.job.progress = &progress;
    if (verbose) {
        preparation.job.stap_said = [](std::string_view line) { std::cerr << base::printable(line) << '\n'; };
    }
    // Files that stap leaves behind where it is killed go with our folder.
    if (const auto folder = preparation.folder->path().string(); launch::stap_takes_as_tmpdir(folder)) {
        preparation.job.environment["TMPDIR"] = folder;
    }
    preparation.job.explanation = explanation(machine, preparation.question);
    auto compiled = launch::compile(preparation.job);
    preparation.job.progress = nullptr;
    if (!compiled) {
        compiled.error().what = in_source(std::move(compiled.error().what), preparation);
        return tl::make_unexpected(compiled.error());
    }
    // One with warnings is made again, so that they are reported again.
    if (preparation.kept && compiled->warnings.empty()) preparation.kept->keep(compiled->module);
    if (!quiet) {
        for (const auto& warning : compiled->warnings)
            base::print_message("warning: " + warning.cause);
    }
    return compiled->module;
}

}  // namespace

base::Result<std::filesystem::path> compile(const host::System& machine, Preparation& preparation, bool quiet,
                                            bool verbose) {
    if (!quiet) {
        const auto& [ids, why] = preparation.workarounds;
        if (verbose || ids.empty()) {
            base::print_message(why);
        } else {
            base::print_message(fmt::format("workaround: {}: 'stapgen doctor' explains {}", fmt::join(ids, ", "),
                                            ids.size() == 1 ? "it" : "them"));
        }
        base::print_message(preparation.notes);
    }
    auto module = make_unsigned(machine, preparation, quiet, verbose);
    if (!module || preparation.signing.empty()) return module;
    const auto& target = preparation.job.target;
    return sign(preparation.signing, *module, {target.release, target.architecture, preparation.recipe_hash},
                preparation.signed_name, preparation.folder->path());
}

}  // namespace stapgen::module
