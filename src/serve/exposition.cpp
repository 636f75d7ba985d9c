// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/exposition.h"

#include <charconv>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "metrics/prometheus.h"
#include "metrics/text.h"
#include "show/model/result_metrics.h"

namespace stapgen::serve {

namespace {

using metrics::Family;
using metrics::Labels;
using metrics::Type;

/// A row of an Accept: what it stands for here, and how much it is wanted.
struct Range {
    std::optional<Exposition> exposition;
    double quality = 1;
};

Range range_of(std::string_view text) {
    const auto parts = base::split(text, ';');
    const auto type = base::trim(parts.front());
    Range range;
    bool is_delimited = false, is_family = false, is_known_version = true;
    for (const auto part : std::span(parts).subspan(1)) {
        const auto parameter = base::trim(part);
        if (parameter.starts_with("q=")) {
            const auto number = parameter.substr(2);
            std::from_chars(number.data(), number.data() + number.size(), range.quality);
        }
        is_delimited = is_delimited || parameter == "encoding=delimited";
        is_family = is_family || parameter == "proto=io.prometheus.client.MetricFamily";
        if (parameter.starts_with("version="))
            is_known_version = parameter == "version=1.0.0" || parameter == "version=0.0.1";
    }
    if (type == "application/vnd.google.protobuf" && is_delimited && is_family) range.exposition = Exposition::protobuf;
    if (type == "application/openmetrics-text" && is_known_version) range.exposition = Exposition::openmetrics;
    if (type == "text/plain" || type == "text/*" || type == "*/*") range.exposition = Exposition::text;
    return range;
}

template <std::size_t N>
void add_states(Family& family, const std::string& recipe, const std::array<std::string_view, N>& names,
                std::optional<std::size_t> now) {
    for (std::size_t i = 0; i < N; ++i)
        family.samples[Labels{{"recipe", recipe}, {family.name, std::string(names.at(i))}}] = std::int64_t{now == i};
}

metrics::Families own_families(const ServerStatus& server) {
    Family build{"stapgen_build", Type::info, "", "This stapgen, and the kernel that runs."};
    build.samples[Labels{{"version", server.version}, {"revision", server.revision}, {"kernel", server.kernel}}] =
        std::int64_t{1};
    const auto one = [](const char* name, Type type, const char* unit, const char* help, metrics::Value value) {
        Family family{name, type, unit, help};
        family.samples[Labels()] = std::move(value);
        return family;
    };
    const auto seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
    metrics::Families all{
        std::move(build),
        one("stapgen_start_time_seconds", Type::gauge, "seconds", "The time when all counters were 0, since 1970.",
            static_cast<double>(server.start_ns) / 1e9),
        one("stapgen_cpu_seconds", Type::counter, "seconds",
            "CPU time of serve itself, without the recipes' processes.", seconds(server.use.cpu)),
        one("stapgen_memory_bytes", Type::gauge, "bytes", "Memory of serve itself.", server.use.resident_bytes),
        one("stapgen_series", Type::gauge, "", "The number of series, as --max-series counts them.",
            static_cast<std::int64_t>(server.series)),
        one("stapgen_max_series", Type::gauge, "", "The limit of series: --max-series.",
            static_cast<std::int64_t>(server.max_series))};
    if (!server.push.wanted) return all;
    Family pushes{"stapgen_otlp_pushes", Type::counter, "", "Pushes by OTLP; a failed push loses nothing."};
    pushes.samples[Labels{{"outcome", "done"}}] = server.push.done;
    pushes.samples[Labels{{"outcome", "failed"}}] = server.push.failed;
    all.push_back(std::move(pushes));
    all.push_back(one("stapgen_otlp_rejected_points", Type::counter, "", "Points rejected by the receiver.",
                      server.push.rejected_points));
    return all;
}

/// How the recipes fare.
metrics::Families recipe_families(std::span<const Status> recipes) {
    Family state{"stapgen_recipe_state", Type::stateset, "", "Whether each recipe measures, or waits for a restart."};
    Family error{"stapgen_recipe_last_error", Type::stateset, "", "Why it stopped measuring the last time."};
    Family failures{"stapgen_recipe_failures", Type::counter, "",
                    "The number of times it stopped measuring, by reason."};
    Family starts{"stapgen_recipe_starts", Type::counter, "", "The number of starts."};
    Family last{"stapgen_recipe_last_interval_timestamp_seconds", Type::gauge, "seconds",
                "The time of the latest numbers, since 1970."};
    Family probes{"stapgen_probe_active", Type::gauge, "", "The probes of a recipe's module: 1 while it measures."};
    Family sample{"stapgen_sample_one_in", Type::gauge, "", "One in this many sockets is measured."};
    Family cpu{"stapgen_recipe_cpu_seconds", Type::counter, "seconds", "CPU time of a recipe's processes."};
    Family memory{"stapgen_recipe_memory_bytes", Type::gauge, "bytes", "Memory of a recipe's processes."};
    Family probe_cpu{"stapgen_probe_cpu_seconds", Type::counter, "seconds",
                     "CPU time of a recipe's probes in the kernel, in completed runs that measured it (--cost)."};
    Family kept{"stapgen_recordings_kept", Type::counter, "", "Recordings of the seconds before a condition held."};
    Family last_kept{"stapgen_recording_kept_timestamp_seconds", Type::gauge, "seconds",
                     "The moment of the latest one of these, since 1970, and its file."};
    Family kept_out{"stapgen_kept_out", Type::counter, "", "The sum of counts beyond --max-series."};
    for (const auto& recipe : recipes) {
        const Labels of{{"recipe", recipe.recipe}};
        add_states(state, recipe.recipe, state_names, static_cast<std::size_t>(recipe.state));
        add_states(error, recipe.recipe, failure_names,
                   recipe.last_failure ? std::optional(static_cast<std::size_t>(*recipe.last_failure)) : std::nullopt);
        for (std::size_t i = 0; i < failure_names.size(); ++i) {
            failures.samples[Labels{{"recipe", recipe.recipe}, {"reason", std::string(failure_names.at(i))}}] =
                recipe.failures.at(i);
        }
        starts.samples[of] = recipe.starts;
        if (recipe.last_interval_ns) last.samples[of] = static_cast<double>(*recipe.last_interval_ns) / 1e9;
        for (const auto& probe : recipe.probes) {
            probes.samples[Labels{{"recipe", recipe.recipe}, {"probe", probe}}] =
                std::int64_t{recipe.state == State::measuring};
        }
        sample.samples[of] = recipe.sample;
        cpu.samples[of] = std::chrono::duration<double>(recipe.use.cpu).count();
        memory.samples[of] = recipe.use.resident_bytes;
        if (recipe.probe_cpu_s) probe_cpu.samples[of] = *recipe.probe_cpu_s;
        kept.samples[of] = recipe.kept;
        if (recipe.last_kept) {
            last_kept.samples[Labels{{"recipe", recipe.recipe}, {"file", recipe.last_kept->file}}] =
                static_cast<double>(recipe.last_kept->at_epoch_ns) / 1e9;
        }
        kept_out.samples[of] = recipe.kept_out;
    }
    return {state, error, failures, starts, last, probes, sample, cpu, memory, probe_cpu, kept, last_kept, kept_out};
}

}  // namespace

Exposition exposition_for(std::string_view accept) {
    Exposition best = Exposition::text;
    double quality = 0;
    for (const auto text : base::split(accept, ',')) {
        const auto range = range_of(text);
        const bool is_better = range.quality > quality || (range.quality == quality && range.exposition < best);
        if (!range.exposition || !is_better || !(range.quality > 0)) continue;
        best = *range.exposition;
        quality = range.quality;
    }
    return best;
}

std::string_view content_type_of(Exposition exposition) {
    switch (exposition) {
        case Exposition::protobuf:
            return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
        case Exposition::openmetrics:
            return "application/openmetrics-text; version=1.0.0; charset=utf-8";
        case Exposition::text:
            break;
    }
    return "text/plain; version=0.0.4; charset=utf-8";
}

metrics::Families families_of(const ServerStatus& server, std::span<const Status> recipes) {
    show::ResultMetrics measured(true);
    for (const auto& recipe : recipes)
        measured.add(recipe.measured);
    auto all = own_families(server);
    for (auto& families : {recipe_families(recipes), measured.families()})
        all.insert(all.end(), families.begin(), families.end());
    return all;
}

std::string written(const metrics::Families& families, Exposition exposition, std::int64_t start_ns,
                    int native_schema) {
    if (exposition == Exposition::protobuf)
        return metrics::prometheus_protobuf(families, {.schema = native_schema, .created_ns = start_ns});
    std::ostringstream out;
    metrics::write_text(
        out, families,
        {.openmetrics = exposition == Exposition::openmetrics, .created_s = static_cast<double>(start_ns) / 1e9});
    return out.str();
}

}  // namespace stapgen::serve
