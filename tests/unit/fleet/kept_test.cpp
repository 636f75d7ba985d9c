// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/kept.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "base/files.h"
#include "recording/writer.h"
#include "session/replay.h"

using namespace stapgen;
using namespace stapgen::fleet;
namespace fs = std::filesystem;

namespace {

const std::string header = "stapgen\t5\tdropwatch\tdrop\tlocation:address\tcount:count";

/// A host's recording with seven drops of its own, as it comes to be.
class HostRecording {
  public:
    HostRecording() {
        writer_->begin_part({});
        for (const auto* line : {header.c_str(), "ready\t1000\t1000", "drop\tff\t7"})
            writer_->line(line);
    }
    /// The lines of one that is kept.
    void begin(const recording::Kept& kept) {
        kept_ = recording::Writer::to_lines([this](std::string_view line) { this->line(line); });
        recording::Setup setup;
        setup.kept = kept;
        kept_->begin_part(std::move(setup));
        for (const auto* line : {header.c_str(), "ready\t900\t900"})
            kept_->line(line);
    }
    void drops(std::int64_t count) { kept_->line(fmt::format("drop\tff\t{}", count)); }
    void end(std::int64_t count, recording::Outcome outcome = {}) {
        kept_->line(fmt::format("end\t2000\tseen={0}\treported={0}", count));
        kept_->end(std::move(outcome));
    }
    void keep(std::int64_t moment, std::int64_t count) {
        begin({"lost rise > 0 over 1s", "17", 1009, 30, 5, 0, moment});
        drops(count);
        end(count);
    }
    void line(std::string_view text) { writer_->line(fmt::format("kept\t{}", text)); }
    void flush() { writer_->flush(); }
    void line_of_its_own(std::string_view text) { writer_->line(text); }

    KeptFiles take(std::uint64_t most_bytes = 1'000'000) {
        writer_->line("end\t3000\tseen=7\treported=7");
        writer_->end({});
        return take_kept(file_, folders(), most_bytes);
    }
    [[nodiscard]] std::vector<fs::path> folders() const {
        return {folder_.path() / "kept-1", folder_.path() / "kept-2", folder_.path() / "kept-3"};
    }
    [[nodiscard]] const fs::path& file() const { return file_; }

  private:
    base::PrivateDirectory folder_ = base::PrivateDirectory::create().value();
    fs::path file_ = folder_.path() / "web1.rec";
    std::unique_ptr<recording::Writer> writer_ = recording::Writer::create(file_, {}).value(), kept_;
};

/// How many drops are in there, and whether it was read to its end.
std::int64_t drops_in(const fs::path& file) {
    auto runs = session::load_foreign(file, {});
    REQUIRE(runs);
    const auto& measured = runs->front().reports.front();
    CHECK(measured.input.unrecognised == 0);
    return measured.accounting.reported;
}

}  // namespace

TEST_CASE("recordings that came within a host's are taken out, and it is what it was without them") {
    HostRecording host;
    host.keep(3, 17);
    host.line_of_its_own("drop\tff\t0");
    host.keep(1, 19);
    const auto kept = host.take();
    CHECK(kept.why.empty());
    REQUIRE(kept.files.size() == 2);
    CHECK(kept.files[0].file == host.folders()[2] / "web1.rec");
    CHECK(kept.files[0].kept.condition == "lost rise > 0 over 1s");
    CHECK(kept.files[0].kept.at_epoch_ns == 1009);
    CHECK(kept.files[1].file == host.folders()[0] / "web1.rec");
    CHECK((kept.files[0].is_whole && kept.files[1].is_whole));
    CHECK(drops_in(kept.files[0].file) == 17);
    CHECK(drops_in(kept.files[1].file) == 19);
    CHECK(drops_in(host.file()) == 7);
    CHECK_FALSE(fs::exists(host.folders()[1]));
}

TEST_CASE("one that was not closed can be read, and is not whole") {
    HostRecording host;
    host.begin({"SIGUSR1", "", 1009, 30, 5, 0, 1});
    host.drops(13);
    host.keep(2, 17);
    host.begin({"SIGUSR1", "", 1009, 30, 5, 0, 3});
    host.drops(23);
    recording::Outcome outcome;
    outcome.broke_off = "the measurement ended while it was kept";
    host.end(23, outcome);
    const auto kept = host.take();
    REQUIRE(kept.files.size() == 3);
    CHECK_FALSE(kept.files[0].is_whole);
    CHECK(kept.files[1].is_whole);
    CHECK_FALSE(kept.files[2].is_whole);
    CHECK(drops_in(kept.files[0].file) == 13);
    CHECK(drops_in(kept.files[1].file) == 17);
    CHECK(drops_in(kept.files[2].file) == 23);
}

TEST_CASE("the recording of a host that was killed has what was kept until then") {
    HostRecording host;
    host.keep(1, 17);
    host.flush();
    host.begin({"SIGUSR1", "", 1009, 30, 5, 0, 2});
    for (int i = 0; i < 1009; ++i)
        host.drops(i);
    host.take();
    const auto content = base::read_file(host.file()).value();
    const auto cut = host.file().parent_path() / "cut.rec";
    REQUIRE(base::create_file(cut, content.substr(0, content.size() - 307)));
    const auto kept = take_kept(cut, host.folders(), 1'000'000);
    REQUIRE(kept.files.size() >= 1);
    CHECK(kept.files[0].is_whole);
    CHECK(kept.files[0].file == host.folders()[0] / "cut.rec");
    CHECK(drops_in(kept.files[0].file) == 17);
}

TEST_CASE("a host gets no files that nobody asked for, and each once") {
    HostRecording host;
    constexpr auto largest = std::numeric_limits<std::int64_t>::max(),
                   smallest = std::numeric_limits<std::int64_t>::min();
    for (const auto moment : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{4}, largest, smallest})
        host.keep(moment, 5);
    for (int i = 0; i < 100'003; ++i)
        host.line("recording\t1\t{\"kept\":{\"condition\":\"x\",\"moment\":2}}");
    host.keep(1, 17);
    host.keep(1, 19);
    // What is within another one is passed over there, too.
    host.begin({"x", "", largest, smallest, largest, largest, 3});
    host.line("kept\trecording\t1\t{\"kept\":{\"condition\":\"x\",\"moment\":1}}");
    host.drops(23);
    host.end(23);
    host.line("a line \x1b[2J of none");
    host.line("");
    const auto kept = host.take();
    REQUIRE(kept.files.size() == 3);
    CHECK(kept.why == "100008 recordings that nobody had asked for were passed over");
    CHECK(kept.files[0].file == host.folders()[1] / "web1.rec");
    CHECK_FALSE(kept.files[0].is_whole);
    CHECK(drops_in(kept.files[1].file) == 17);
    CHECK(drops_in(kept.files[2].file) == 23);
    for (const auto& folder : host.folders())
        CHECK(base::entries_of(folder).size() == 1);
}

TEST_CASE("what is no recording, or has JSON too deep, is none that was kept") {
    HostRecording host;
    for (const auto& line :
         {std::string("drop\tff\t3"), std::string("recording-end\t{}"), std::string("recording\t1\t{"),
          std::string("recording\t1\t{}"), std::string("recording\t1\t{\"kept\":7}"),
          std::string("recording\t1\t{\"kept\":{\"moment\":\"1\"}}"),
          "recording\t1\t{\"kept\":" + std::string(65'000, '[')})
        host.line(line);
    const auto kept = host.take();
    CHECK(kept.files.empty());
    CHECK_FALSE(fs::exists(host.folders()[0]));
}

TEST_CASE("what is taken out has a limit of bytes") {
    HostRecording host;
    host.begin({"x", "", 1009, 30, 5, 0, 1});
    std::uint64_t noise = 1;
    for (int i = 0; i < 100'003; ++i)
        host.drops(static_cast<std::int64_t>((noise = noise * 6364136223846793005U + 1442695040888963407U) >> 20U));
    host.end(1);
    const auto kept = host.take(100'003);
    REQUIRE(kept.files.size() == 1);
    CHECK_FALSE(kept.files[0].is_whole);
    CHECK(kept.why == "what it kept takes more than 97 KiB");
    CHECK(fs::file_size(kept.files[0].file) < 400'000);
}
