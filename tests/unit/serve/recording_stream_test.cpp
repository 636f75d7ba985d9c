// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/recording_stream.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "kinds/latency/latency.h"

using namespace stapgen;

namespace {

std::string content_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

struct Heard {
    int begun = 0;
    std::size_t intervals = 0;
    std::int64_t reported = 0;
};

Heard hear(const std::string& packed, std::size_t piece) {
    serve::RecordingStream stream;
    Heard heard;
    for (std::size_t at = 0; at < packed.size(); at += piece) {
        const auto fed = stream.feed(std::string_view(packed).substr(at, piece));
        heard.begun += fed.has_begun ? 1 : 0;
        heard.intervals += fed.intervals.size();
    }
    if (stream.session().analyzer()) heard.reported = stream.session().analyzer()->accounting().reported;
    CHECK_FALSE(stream.is_damaged());
    CHECK_FALSE(stream.session().facts().setup.host.empty());
    CHECK(stream.session().measured().one<rows::Series>().series->blocks().empty());
    return heard;
}

}  // namespace

TEST_CASE("a recording is heard as it comes, however it is cut") {
    const auto packed = content_of(SAMPLES "/dropwatch.rec");
    REQUIRE(packed.size() > 100);
    const auto whole = hear(packed, packed.size());
    CHECK(whole.begun == 1);
    CHECK(whole.intervals > 0);
    CHECK(whole.reported > 0);
    for (const std::size_t piece : {1, 7, 1009}) {
        const auto heard = hear(packed, piece);
        CHECK(heard.begun == 1);
        CHECK(heard.intervals == whole.intervals);
        CHECK(heard.reported == whole.reported);
    }
}

TEST_CASE("what is damaged ends it") {
    serve::RecordingStream stream;
    stream.feed("no zstd at all, and more of it");
    CHECK(stream.is_damaged());
    stream.feed("more");
    CHECK_FALSE(stream.session().analyzer());
}
