// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are read in pieces say what they say when they are read from end to end, in all formats, and when they are
// compared: plain, packed, through a pipe, with a header and a trailer, with the words of another tool before each
// line, several.

#include "base/files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "../../unit/packed.h"
#include "answers.h"
#include "base/source.h"
#include "session/replay.h"
#include "texts.h"

using namespace stapgen;
using namespace stapgen::pieces;
using Files = std::vector<std::filesystem::path>;

namespace {

const session::Reading from_end_to_end{.cores = 1};
constexpr int lines = 5'003;

std::string said(const Files& files, const session::Reading& reading,
                 std::span<const report::Format> formats = numbers_and_text()) {
    const auto summaries = session::load(files, {}, {}, {.reading = reading});
    return summaries ? written(*summaries, {}, formats) : summaries.error().what;
}

std::filesystem::path put(const base::PrivateDirectory& folder, const std::string& name, std::string_view text) {
    const auto path = folder.path() / name;
    std::ofstream(path) << text;
    return path;
}

/// As syslog and others do it.
std::string prefixed(std::string_view text) {
    std::string all;
    for (std::size_t at = 0, number = 0; at < text.size(); ++number) {
        const auto end = text.find('\n', at) + 1;
        all += fmt::format("2026-11-24T19:{:02}:07.123 web17 {}", number % 60, text.substr(at, end - at));
        at = end;
    }
    return all;
}

/// What compare says of it and of a part of it.
std::string compared(const Files& files, const session::Reading& reading) {
    report::Presentation presentation;
    presentation.by.emplace();
    auto runs = session::load_runs(files, presentation, {}, {.reading = reading});
    REQUIRE(runs);
    REQUIRE(runs->size() == 2);
    auto &before = runs->front().reports.front(), &after = runs->back().reports.front();
    const auto comparison = analyze::compare(before, after);
    if (!comparison) return comparison.error().what;
    const report::Compared both{*comparison, before, after};
    std::ostringstream out;
    for (const auto& format : report::formats()) {
        if (format.write_comparisons != nullptr) format.write_comparisons(out, std::span(&both, 1), {});
    }
    return out.str();
}

}  // namespace

TEST_CASE("files of each format that is read in pieces, one by one and together") {
    Random random(7919);
    const auto folder = base::PrivateDirectory::create().value();
    for (const auto& kind : kinds()) {
        CAPTURE(kind.name);
        const auto text = kind.text(random, lines);
        const Files files{put(folder, fmt::format("plain {}", kind.name), text),
                          put(folder, fmt::format("prefixed {}", kind.name), prefixed(kind.text(random, lines))),
                          put(folder, fmt::format("recording {}", kind.name),
                              recording::header_line({}) + kind.text(random, lines) + recording::trailer_line({})),
                          put(folder, fmt::format("packed {}", kind.name), packed::zstd(kind.text(random, lines)))};
        const auto pipe = folder.path() / fmt::format("pipe {}", kind.name);
        REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
        const auto all = said(files, from_end_to_end, report::formats());
        CHECK(difference(all, said(files, in_pieces(text.size(), 17), report::formats())) == "");
        std::vector<std::string> wholes;
        for (const auto& file : files)
            wholes.push_back(said({file}, from_end_to_end));
        for (const std::size_t pieces : {2, 17}) {
            CAPTURE(pieces);
            const auto reading = in_pieces(text.size(), pieces);
            for (std::size_t i = 0; i < files.size(); ++i)
                CHECK(difference(wholes[i], said({files[i]}, reading)) == "");
            std::jthread writer([&] { std::ofstream(pipe) << text; });
            CHECK(difference(wholes.front(), said({pipe}, reading)) == "");
        }
    }
}

TEST_CASE("what compare says of files in pieces") {
    Random random(15'485'863);
    const auto folder = base::PrivateDirectory::create().value();
    for (const auto& kind : kinds()) {
        CAPTURE(kind.name);
        const auto text = kind.text(random, lines);
        const Files files{put(folder, fmt::format("before {}", kind.name), text),
                          put(folder, fmt::format("after {}", kind.name), kind.text(random, lines))};
        const auto whole = compared(files, from_end_to_end);
        CHECK(difference(whole, compared(files, in_pieces(text.size(), 7))) == "");
    }
}

TEST_CASE("all samples, as they are and so often one behind the other that they are large") {
    constexpr std::size_t large = 600'000;
    const auto folder = base::PrivateDirectory::create().value();
    std::size_t read = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SAMPLES)) {
        const auto& path = entry.path();
        if (path.extension() != ".txt" && path.extension() != ".rec") continue;
        CAPTURE(path);
        const auto whole = said({path}, from_end_to_end, report::formats());
        CHECK(difference(whole, said({path}, in_pieces(entry.file_size(), 7), report::formats())) == "");
        ++read;
        const auto text = base::read_unpacked(path, large);
        if (!text) continue;  // one ends in the middle
        std::string often;
        while (often.size() < large)
            often += *text;
        const auto file = put(folder, "often", often);
        CHECK(difference(said({file}, from_end_to_end), said({file}, in_pieces(often.size(), 7))) == "");
    }
    CHECK(read > 40);
}
