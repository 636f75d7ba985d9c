// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_text.h"
#include "base/limits.h"
#include "base/text.h"
#include "fleet/host_facts.h"
#include "recording/facts.h"
#include "session/replay.h"

namespace stapgen::fleet {

namespace {

namespace fs = std::filesystem;

base::Result<std::vector<HostResult>> parse_index(const fs::path& folder, const std::string& text) {
    std::vector<HostResult> hosts;
    const auto wrong = [&](std::string_view why) {
        return base::bad_input(fmt::format("{}: {}", base::printable((folder / index_file).string()), why),
                               "'stapgen fleet run' writes it; without it each file counts as a host");
    };
    const auto index = base::parse_json(text);
    if (!index) return wrong(index.error().what);
    if (index->is_discarded()) return wrong("it is not JSON");
    try {
        for (const auto& row : index->at("hosts")) {
            if (hosts.size() >= base::limits::hosts)
                return wrong(fmt::format("it has more than {} hosts", base::limits::hosts));
            // Anybody may have written them, and they are only shown.
            const auto shown = [](const std::string& said) { return short_reason(said); };
            auto& host =
                hosts.emplace_back(HostResult{shown(row.at("host").get<std::string>()),
                                              shown(row.at("state").get<std::string>()), shown(row.value("why", ""))});
            host.recipe = shown(index->value("recipe", ""));
            host.is_named = true;
            // A name, and never a path out of the folder.
            const fs::path name = fs::path(std::string(row.at("recording"))).filename();
            if (!name.empty()) host.recording = folder / name;
            std::error_code error;
            if (fs::exists(host.recording, error) && !fs::is_regular_file(host.recording, error)) {
                host.recording.clear();
                host.why = "its recording is not a regular file";
            }
        }
    } catch (const nlohmann::json::exception& error) {
        return wrong(error.what());
    }
    return hosts;
}

}  // namespace

base::Result<std::vector<HostResult>> read_results(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return base::bad_input(fmt::format("{} is not a folder", base::printable(folder.string())),
                               "give the folder of 'stapgen fleet run -o'");
    }
    if (fs::exists(folder / index_file, error)) {
        STAPGEN_LET(const auto text, base::read_found(folder / index_file, base::limits::json_bytes));
        return parse_index(folder, text);
    }
    std::vector<HostResult> hosts;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.is_regular_file())
            hosts.push_back({.host = base::printable(entry.path().stem().string()), .recording = entry.path()});
    }
    std::ranges::sort(hosts, {}, &HostResult::host);
    if (hosts.empty())
        return base::bad_input(fmt::format("there are no files in {}", base::printable(folder.string())),
                               "name another folder");
    return hosts;
}

base::Result<void> for_each_measured(
    std::vector<HostResult>& hosts, const session::Presentation& presentation,
    const std::function<base::Result<void>(const HostResult& host, kinds::Measured measured)>& call) {
    std::string recipe;
    for (auto& host : hosts) {
        if (host.recording.empty()) continue;
        auto runs = session::load_foreign(host.recording, presentation);
        if (!runs) {
            if (host.why.empty()) host.why = short_reason(runs.error().what);
            continue;
        }
        const auto is_other = [&](const kinds::Measured& measured) {
            return !host.recipe.empty() && measured.recipe != host.recipe;
        };
        if (const auto& all = runs->front().reports; std::ranges::any_of(all, is_other)) {
            host.why = fmt::format("a recording of {}, and not of {}",
                                   base::printable(std::ranges::find_if(all, is_other)->recipe), host.recipe);
            continue;
        }
        for (auto& measured : runs->front().reports) {
            if (recipe.empty()) recipe = measured.recipe;
            if (measured.recipe != recipe) {
                return base::bad_input(
                    fmt::format("{}: a recording of {}, but the first one is of {}", host.recording.string(),
                                base::printable(measured.recipe), base::printable(recipe)),
                    "measure a fleet with one recipe");
            }
            if (auto done = call(host, std::move(measured)); !done) return done;
        }
    }
    if (recipe.empty()) return base::bad_input("no host has a recording", "fleet.json says why");
    return {};
}

study::Member member_of(const std::string& host, const kinds::Measured& measured) {
    study::Member member{host, {}, study::compared_stages(measured)};
    const auto origin = measured.origins.empty() ? recording::Origin() : measured.origins.front();
    const auto kernel = fmt::format("kernel {}", origin.kernel);
    std::vector<std::string> labels;
    if (!origin.kernel.empty()) member.levels.emplace(kernel_factor, kernel);
    for (const auto& [name, value] : origin.labels) {
        labels.push_back(name + '=' + value);
        member.levels.emplace("label " + name, labels.back());
    }
    // The words behind the tab are for no person.
    if (!labels.empty())
        member.cohorts.push_back(fmt::format("{}, {}\t{}", kernel, fmt::join(labels, ", "), origin.definition));
    member.cohorts.push_back(fmt::format("{}\t{}", kernel, origin.definition));
    std::string filters;
    for (const auto& [name, value] : origin.filters)
        filters += fmt::format(" {}={}", name, value);
    member.cohorts.push_back(fmt::format("all kernels\t{}{}", origin.recipe_hash, filters));
    return member;
}

std::string missing_text(const std::vector<HostResult>& hosts) {
    std::vector<std::string> missing;
    for (const auto& host : hosts) {
        if (!host.why.empty())
            missing.push_back(fmt::format("{} ({})", host.host, host.state == "done" ? host.why : host.state));
    }
    if (missing.empty()) return {};
    return fmt::format("{} of {} hosts did not complete: {}", missing.size(), hosts.size(), fmt::join(missing, ", "));
}

}  // namespace stapgen::fleet
