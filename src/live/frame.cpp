// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace stapgen::live {

namespace {

/// A line below the head. `heading` is that of its table: it stays on the screen when the table is scrolled.
struct BodyLine {
    Line line;
    const Line* heading = nullptr;
};

/// "1:02:03", and of a short time "3.2 s".
std::string clock_text(std::int64_t ns) {
    const auto seconds = ns / 1'000'000'000;
    if (seconds < 60) return fmt::format("{:.1f} s", static_cast<double>(ns / 100'000'000) / 10);
    if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
    return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string window_text(const Scene& scene) {
    const auto run = clock_text(scene.run_ns);
    if (scene.window == Window::run) return run;
    if (!scene.window_is_there) return fmt::format("no interval yet, run {}", run);
    const auto* what = scene.window == Window::interval ? "last interval" : "since r";
    return fmt::format("{} {}, run {}", what, clock_text(scene.window_ns), run);
}

/// What the bar must not be without, where it is narrow the title is cut for it.
Line bar(const Scene& scene, const State& state, std::size_t width) {
    std::vector<Span> words;
    const auto lost = scene.run.one<rows::Accounting>().lost;
    if (lost != 0) words.push_back({fmt::format(" {} LOST ", base::with_commas(lost)), Style::alert});
    if (state.paused) words.push_back({" PAUSED ", Style::alert});
    if (scene.ending) words.push_back({" ENDING ", Style::alert});
    words.push_back({fmt::format(" {} ", window_text(scene)), Style::head});
    const auto right = width_of(words);
    const auto left = width > right ? width - right : 0;
    Line line{{padded(cut(' ' + plain_text(scene.title), left), left), Style::head}};
    line.insert(line.end(), words.begin(), words.end());
    return cut(line, width);
}

std::vector<std::string> account_texts(const Scene& scene) {
    auto account = scene.run.sentences.account;
    if (scene.account_reported || account.empty()) return account;
    return {fmt::format("{} reported so far; filtered, incomplete and lost counts are not available yet",
                        base::with_commas(scene.run.one<rows::Accounting>().reported))};
}

/// What does not scroll, `most` lines at most: the bar, the account, what was said beside the measurement.
std::vector<Line> head(const Scene& scene, const State& state, std::size_t width, std::size_t most) {
    std::vector<Line> lines{bar(scene, state, width)};
    const auto add = [&](std::string_view text, Style style) {
        const auto folded = base::wrapped(plain_text(text), width);
        for (const auto line : base::split(folded, '\n'))
            lines.push_back({{cut(line, width), style}});
    };
    for (const auto& text : account_texts(scene))
        add(text, Style::plain);
    if (!scene.notice.empty()) add(scene.notice, Style::alert);
    lines.resize(std::min(lines.size(), most));
    return lines;
}

std::vector<Section> help(std::size_t width) {
    Section keys{{"Keys"}};
    const auto explain = [&](Section& section, std::size_t indent, const std::string& name, std::string_view text) {
        const auto room = width > indent + 10 ? width - indent : 10;
        const auto folded = base::wrapped(text, room);
        bool is_first = true;
        for (const auto part : base::split(folded, '\n')) {
            const auto front = is_first ? name : "";
            section.rows.push_back({{cut(padded(front, indent) + std::string(part), width), Style::plain}});
            is_first = false;
        }
    };
    for (const auto& [name, what] : key_help())
        explain(keys, 14, name, what);
    Section reading{{"How to read it"}};
    for (const auto* text : {"Distributions have a logarithmic scale; a label marks where its number begins. The "
                             "highest column is full; a single value is still visible.",
                             "-: not enough samples; p50 needs 6, p99 needs 368.",
                             "LOST: records were dropped; treat all numbers as unreliable."})
        explain(reading, 0, "", text);
    return {keys, reading};
}

std::vector<BodyLine> body_of(const std::vector<Section>& sections, std::size_t width) {
    std::vector<BodyLine> body;
    for (const auto& section : sections) {
        if (!body.empty()) body.push_back({});
        for (const auto& sentence : section.sentences) {
            const auto lines = base::wrapped(plain_text(sentence), width);
            for (const auto line : base::split(lines, '\n'))
                body.push_back({{{cut(line, width), Style::heading}}});
        }
        const auto* heading = section.heading.empty() ? nullptr : &section.heading;
        if (heading != nullptr) body.push_back({*heading});
        for (const auto& row : section.rows)
            body.push_back({row, heading});
    }
    return body;
}

/// The keys that there is room for, and where the body is when it is longer than the screen.
Line foot(const State& state, const Shown& shown, std::size_t width) {
    std::string place;
    if (shown.lines > shown.page) place = fmt::format(" {}-{}/{}", shown.top + 1, shown.top + shown.page, shown.lines);
    std::string keys;
    const auto room = width - std::min(width, place.size());
    std::vector<std::string> hints{
        "q quit", "? help", "space pause", "s sort: " + name_of(state.order), "w window: " + name_of(state.window),
        "r reset"};
    if (state.help) hints = {"any key: back"};
    if (shown.stages.size() > 1 && !state.help) hints.emplace_back("left, right: stage");
    for (const auto& hint : hints) {
        if (keys.size() + 2 + hint.size() > room) break;
        keys += (keys.empty() ? "" : "  ") + hint;
    }
    return cut({{padded(keys, room) + place, Style::faint}}, width);
}

}  // namespace

Frame frame(const Scene& scene, const State& state, Size size, bool utf8) {
    Frame result;
    auto& [lines, shown] = result;
    lines = head(scene, state, size.columns, size.rows < 10 ? std::min<std::size_t>(2, size.rows) : 5);
    const auto sections = state.help ? help(size.columns) : sections_of(scene, state, size.columns, utf8);
    auto body = body_of(sections, size.columns);
    if (body.empty()) body.push_back({{{cut("no data yet", size.columns), Style::faint}}});

    // A blank line below the head, and the keys at the bottom.
    const auto around = lines.size() + 2;
    shown.page = size.rows > around ? size.rows - around : 1;
    shown.lines = body.size();
    shown.top = std::min(state.top, shown.lines - std::min(shown.lines, shown.page));
    shown.stages = stages_of(scene.shown);
    shown.stage = stage_of(scene.shown, state);
    shown.has_since = scene.has_since;
    if (size.rows <= around) return result;

    lines.emplace_back();
    for (std::size_t i = 0; i < shown.page; ++i) {
        if (shown.top + i >= body.size()) {
            lines.emplace_back();
            continue;
        }
        const auto& [line, heading] = body[shown.top + i];
        lines.push_back(i == 0 && heading != nullptr ? *heading : line);
    }
    lines.push_back(foot(state, shown, size.columns));
    return result;
}

}  // namespace stapgen::live
