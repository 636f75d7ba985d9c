// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "kinds/functions/functions.h"

namespace stapgen::kinds::functions {

namespace {

using Samples = std::vector<rows::CodeSample>;

std::int64_t count_of(const Measured& measured, std::string_view name) {
    const auto& all = measured.accounting.other;
    const auto found = std::ranges::find(all, name, &Cause::name);
    return found == all.end() ? 0 : found->count;
}

/// Names of threads whose callers are known: most samples have one.
std::set<std::string> with_frame_pointers(const Samples& samples) {
    constexpr std::int64_t of_ten = 8;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_name;
    for (const auto& sample : samples) {
        auto& [n, with_caller] = by_name[sample.comm];
        base::add_saturating(n, sample.n);
        // In a system call the first function in front of it is where the program makes it.
        const std::size_t own = sample.call == -1 ? 1 : 2;
        if (sample.path.size() > own) base::add_saturating(with_caller, sample.n);
    }
    std::set<std::string> names;
    for (const auto& [name, counts] : by_name)
        if (counts.second >= counts.first / 10 * of_ten && counts.second > 0) names.insert(name);
    return names;
}

/// Else it is not known whether an address behind it is one of code.
bool is_of_known_file(const rows::CodeSample& sample) {
    const std::size_t own = sample.call == -1 ? 0 : 1;
    return own < sample.files.size() && !sample.files[own].empty();
}

double share_of(std::int64_t part, std::int64_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
}

std::vector<rows::Function> functions_of(const Samples& samples, const std::set<std::string>& framed,
                                         std::int64_t all) {
    constexpr double certain = 1.96, matters = 0.05;
    struct Counts {
        std::int64_t n = 0, with_called = 0;
        bool is_framed = false;
    };
    using Key = std::pair<std::string, std::string>;
    std::map<Key, Counts> by_function;
    for (const auto& sample : samples) {
        const auto& [path, files] = std::tie(sample.path, sample.files);
        if (path.empty() || files.size() != path.size()) continue;
        base::add_saturating(by_function[Key(path[0], files[0])].n, sample.n);
        if (!framed.contains(sample.comm)) continue;
        std::set<Key> met;
        for (std::size_t i = 0; i < path.size(); ++i)
            met.emplace(path[i], files[i]);
        for (const auto& key : met) {
            auto& counts = by_function[key];
            counts.is_framed = true;
            base::add_saturating(counts.with_called, sample.n);
        }
    }
    std::vector<rows::Function> functions;
    for (const auto& [key, counts] : by_function) {
        rows::Function row{key.first, key.second, counts.n, share_of(counts.n, all)};
        row.error = certain * std::sqrt(row.share * (1 - row.share) / static_cast<double>(all));
        if (counts.is_framed) row.called_share = share_of(counts.with_called, all);
        if (row.n > 0 || row.called_share.value_or(0) >= matters) functions.push_back(std::move(row));
    }
    std::ranges::stable_sort(functions, std::greater(),
                             [](const rows::Function& row) { return std::pair(row.n, row.called_share.value_or(0)); });
    return functions;
}

std::string count_text(std::int64_t n, std::string_view noun) {
    return fmt::format("{} {}{}", base::with_commas(n), noun, n == 1 ? "" : "s");
}

/// The largest three, each with its error.
std::string headline(const std::vector<rows::Function>& functions, std::string_view of) {
    constexpr std::size_t most = 3;
    constexpr double percent = 100, least = 0.005;
    std::vector<std::string> parts;
    for (const auto& row : functions) {
        if (parts.size() == most || row.share < least) break;
        parts.push_back(fmt::format("{} {:.0f} % (+-{:.0f})", base::printable(row.function), percent * row.share,
                                    std::ceil(percent * row.error)));
    }
    return fmt::format("{}: {}", of, fmt::join(parts, ", "));
}

/// Where programs have to say themselves what their code is called.
void say_what_is_missing(const Samples& samples, std::int64_t all, table::Texts& sentences) {
    constexpr double matters = 0.05;
    std::int64_t compiled = 0, python = 0;
    for (const auto& sample : samples) {
        if (sample.path.empty() || sample.files.empty() || sample.call != -1) continue;
        if (sample.files[0] == "jit" && sample.path[0] == nameless) base::add_saturating(compiled, sample.n);
        if (sample.files[0].starts_with("python") || sample.files[0].starts_with("libpython"))
            base::add_saturating(python, sample.n);
    }
    if (share_of(compiled, all) >= matters)
        sentences.emplace_back(
            "code that was compiled at run time has names only where its program writes them: node "
            "--perf-basic-prof, DOTNET_PerfMapEnabled=1, for Java 'jcmd PID Compiler.perfmap' before the run ends");
    if (share_of(python, all) >= matters)
        sentences.emplace_back(
            "these are functions of Python's interpreter; python3 -X perf (3.12) names those of scripts");
}

}  // namespace

void put_results(const Measured& measured, const Asked& /*asked*/, rows::Results& results) {
    const auto& table = measured.of<rows::CodeSample>();
    if (!table.is_there) return;
    auto& sentences = results.sentences.functions;
    const auto all = base::saturating_sum(table, &rows::CodeSample::n);
    const auto slow = count_of(measured, "slow-requests"), overwritten = count_of(measured, "samples-overwritten"),
               elsewhere = count_of(measured, "slow-elsewhere");
    const auto of = fmt::format("CPU of the {}, {}", slow > 0 ? count_text(slow, "slow request") : "slow requests",
                                count_text(all, "sample"));
    if (all < fewest_samples) {
        sentences.push_back(
            fmt::format("{}: too few to say where it went; {} are needed: measure longer, or take "
                        "more requests for slow (--functions=5ms)",
                        of, fewest_samples));
    } else {
        const auto framed = with_frame_pointers(table);
        auto& functions = results.of<rows::Function>();
        static_cast<std::vector<rows::Function>&>(functions) = functions_of(table, framed, all);
        sentences.push_back(headline(functions, of));
        std::set<std::string> unframed;
        for (const auto& sample : table)
            if (!framed.contains(sample.comm) && is_of_known_file(sample))
                unframed.insert(base::printable(sample.comm));
        constexpr std::size_t most_names = 5;
        if (unframed.size() > most_names) unframed = {fmt::format("{} kinds of threads", unframed.size())};
        if (!unframed.empty())
            sentences.push_back(
                fmt::format("who called these functions is not known: no frame pointers in {}; "
                            "gcc, clang and rustc have options for them",
                            fmt::join(unframed, ", ")));
        say_what_is_missing(table, all, sentences);
    }
    if (overwritten > 0)
        sentences.push_back(
            fmt::format("{} of requests with more than 64 ms on a CPU: of each the last 64 are known",
                        count_text(overwritten, "sample") + (overwritten == 1 ? " is missing" : " are missing")));
    if (elsewhere > 0)
        sentences.push_back(fmt::format("of {} it is not known where the time went: another thread replied",
                                        count_text(elsewhere, "slow request")));
}

}  // namespace stapgen::kinds::functions
