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

/// What real recordings of samples/ would have shown while they were made.
namespace scenes {

inline stapgen::analyze::Summary sample(std::string_view name, std::vector<std::string> group_by) {
    const auto text = stapgen::base::read_file(std::string(SAMPLES) + "/" + std::string(name));
    REQUIRE(text);
    stapgen::decode::RecordParser parser;
    std::optional<stapgen::analyze::Analyzer> analyzer;
    for (const auto line : stapgen::base::split(*text, '\n')) {
        const auto parsed = parser.feed(line);
        if (!analyzer) {
            stapgen::analyze::AnalyzerOptions options;
            options.group_by = std::move(group_by);
            auto created = stapgen::analyze::Analyzer::create(*parser.header(), options);
            REQUIRE(created);
            analyzer = *std::move(created);
        }
        analyzer->add(parsed);
    }
    return analyzer->summary();
}

inline stapgen::live::Scene of(stapgen::analyze::Summary summary, std::string title) {
    stapgen::live::Scene scene;
    scene.title = std::move(title);
    scene.account = summary.accounting;
    scene.account_reported = true;
    scene.run_ns = scene.window_ns = 17'300'000'000;
    scene.shown = std::move(summary);
    return scene;
}

inline stapgen::live::Scene sock() {
    return of(sample("own-sock-latency.txt", {"pid", "tid", "comm"}), "sock-latency --comm mc-worker");
}

}  // namespace scenes
