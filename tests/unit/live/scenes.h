// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyzer.h"
#include "base/files.h"
#include "base/text.h"
#include "decode/record_parser.h"
#include "live/frame.h"
#include "unit/rows.h"

/// What real recordings of samples/ would have shown while they were made.
namespace scenes {

inline stapgen::summaries::Summary sample(std::string_view name, std::vector<std::string> group_by) {
    const auto text = stapgen::base::read_file(std::string(SAMPLES) + "/" + std::string(name));
    REQUIRE(text);
    stapgen::decode::RecordParser parser;
    std::optional<stapgen::analyze::Analyzer> analyzer;
    for (const auto line : stapgen::base::split(*text, '\n')) {
        const auto parsed = parser.feed(line);
        if (!analyzer) {
            stapgen::kinds::Settings options;
            options.group_by = std::move(group_by);
            auto created = stapgen::analyze::Analyzer::create(*parser.header(), options);
            REQUIRE(created);
            analyzer = *std::move(created);
        }
        analyzer->add(parsed);
    }
    return stapgen::summaries::summary_of(analyzer->measured());
}

/// The summary as what the window shows, and as the run.
inline void show(stapgen::live::Scene& scene, const stapgen::summaries::Summary& summary,
                 const stapgen::kinds::Asked& options = {}) {
    scene.shown = stapgen::summaries::results_of(summary, options);
    scene.run = scene.shown;
}

inline stapgen::live::Scene of(const stapgen::summaries::Summary& summary, std::string title,
                               const stapgen::kinds::Asked& options = {}) {
    stapgen::live::Scene scene;
    scene.title = std::move(title);
    scene.account_reported = true;
    scene.run_ns = scene.window_ns = 17'300'000'000;
    show(scene, summary, options);
    return scene;
}

inline stapgen::summaries::Summary sock_summary() {
    return sample("earlier/own-sock-latency.txt", {"pid", "tid", "comm"});
}

inline stapgen::live::Scene sock(const stapgen::summaries::Summary& summary = sock_summary()) {
    return of(summary, "sock-latency --comm mc-worker");
}

}  // namespace scenes
