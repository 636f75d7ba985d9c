#include "doctor/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/checks.h"

namespace stapgen::doctor {

Check ok(std::string id, std::string found) {
    return {std::move(id), State::ok, Blocks::nothing, std::move(found), {}, {}};
}

Check note(std::string id, std::string found, Remedy remedy) {
    return {std::move(id), State::note, Blocks::nothing, std::move(found), std::move(remedy), {}};
}

Check missing(std::string id, Blocks blocks, std::string found, Remedy remedy) {
    return {std::move(id), State::missing, blocks, std::move(found), std::move(remedy), {}};
}

std::string short_text(const host::System& system, const std::filesystem::path& file) {
    return std::string(base::trim(system.read(file, 4096).value_or("")));
}

std::vector<Check> examine(const host::System& system, const Question& question) {
    const auto& target = question.target;
    std::vector<Check> checks;
    if (question.to_load) {
        // What cannot be changed here before what can be installed; and to those it is not for, staprun looks as if it
        // were not there.
        checks.push_back(privileges(system));
        checks.push_back(modules(system));
        checks.push_back(module_signing(system, question.signed_module));
        checks.push_back(running_kernel(target));
        checks.push_back(staprun(target));
        checks.push_back(debugfs(system));
    }
    if (question.to_compile) {
        checks.push_back(systemtap(target));
        checks.push_back(headers(target));
        checks.push_back(compiler(system, target));
        checks.push_back(kernel_options(system, target));
        checks.push_back(symbol_table(system, question));
        if (auto check = trace_headers(system, question)) checks.push_back(*std::move(check));
        for (auto& check : workarounds(question))
            checks.push_back(std::move(check));
        checks.push_back(debuginfo(question));
        checks.push_back(kernel(question));
        checks.push_back(first_run(system, question));
        checks.push_back(disk(system, question));
    }
    if (question.to_load) {
        checks.push_back(memory(system));
        checks.push_back(tracefs(system));
        checks.push_back(leftovers(system));
    }
    // Files of a build tree or a container can hold anything.
    for (auto& check : checks) {
        auto& [words, commands, otherwise] = check.remedy;
        for (auto* text : {&check.found, &words, &commands.debian, &commands.redhat, &commands.suse, &otherwise})
            *text = base::printable(*text);
    }
    return checks;
}

bool blocks(const Check& check, const Subject& subject) {
    if (check.state != State::missing || subject.reads_counters) return false;
    return check.blocks != Blocks::nothing && (check.blocks != Blocks::functions || subject.probes_functions);
}

std::string remedy_text(const Remedy& remedy, host::Distribution distribution) {
    auto text = remedy.words;
    if (!remedy.commands.empty()) {
        text += (text.empty() ? "" : ": ") + host::command_here(remedy.commands, distribution);
    }
    if (!remedy.otherwise.empty()) text += (text.empty() ? "" : "; ") + remedy.otherwise;
    return text;
}

std::vector<Check> most_urgent_first(std::vector<Check> checks) {
    std::ranges::stable_sort(checks, std::greater<>(), &Check::state);
    return checks;
}

std::vector<Check> not_ok(const std::vector<Check>& checks, std::string_view ids) {
    const auto wanted = base::words(ids);
    const auto named = [&](std::string_view id) { return std::ranges::find(wanted, id) != wanted.end(); };
    std::vector<Check> found;
    for (const auto& check : checks) {
        const bool is_workaround = check.workaround == check.id && check.id != "symbol-table";
        if (check.state != State::missing && check.state != State::note) continue;
        if (named(check.id) || (is_workaround && named("workarounds"))) found.push_back(check);
    }
    return found;
}

Verdict conclude(const std::vector<Check>& checks, const Question& question) {
    Verdict verdict;
    const auto& target = question.target;
    const Check* first = nullptr;
    bool could_load = question.to_load;
    for (const auto& subject : question.subjects) {
        const auto in_the_way =
            std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return blocks(check, subject); });
        (in_the_way == checks.end() ? verdict.able : verdict.unable).push_back(subject.name);
        if (in_the_way != checks.end() && first == nullptr) first = &*in_the_way;
    }
    for (const auto& check : checks)
        could_load = could_load && !(check.state == State::missing && check.blocks == Blocks::loading);

    const auto here = question.to_load ? std::string("run here") : fmt::format("compile here for {}", target.release);
    const auto names = [&](const std::vector<std::string>& list) {
        if (list.size() == question.subjects.size() && list.size() > 1) return std::string("all recipes");
        return fmt::format("{}", fmt::join(list, ", "));
    };
    if (verdict.unable.empty()) {
        verdict.what = fmt::format("{} will {}", names(verdict.able), here);
        verdict.first = question.to_load
                            ? fmt::format("stapgen {}", verdict.able.size() == 1 ? verdict.able[0] : "RECIPE")
                            : fmt::format("stapgen build {} -r {} -o FILE.ko",
                                          verdict.able.size() == 1 ? verdict.able[0] : "RECIPE",
                                          target.release_option.empty() ? target.release : target.release_option);
        return verdict;
    }
    verdict.what = fmt::format("{} will not {}", names(verdict.unable), here);
    if (!verdict.able.empty()) verdict.what += fmt::format("; {} will", names(verdict.able));
    const auto remedy = remedy_text(first->remedy, target.distribution);
    verdict.first = fmt::format("first {}: {}", first->id, remedy.empty() ? first->found : remedy);
    if (could_load && first->blocks != Blocks::loading) {
        verdict.first += "; a module that stapgen build made elsewhere would run here: stapgen exec";
    }
    return verdict;
}

}  // namespace stapgen::doctor
