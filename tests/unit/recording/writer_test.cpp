// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/writer.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <random>

#include "scratch.h"

using namespace stapgen::recording;
namespace fs = std::filesystem;

namespace {

/// Lines that do not compress to nothing.
std::string noise(std::mt19937_64& random) {
    std::string line = "rx";
    for (int i = 0; i < 7; ++i)
        line += "\t" + std::to_string(random());
    return line;
}

/// No file of this process grows beyond this while it lives.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

}  // namespace

TEST_CASE("what is written is read again, and the file is the owner's") {
    const Scratch scratch;
    const auto file = scratch / "one.zst";
    {
        auto writer = Writer::create(file, {}).value();
        put(*writer, "stapgen\t2\tdropwatch\tdrop\tlocation:address");
        put(*writer, "");
        put(*writer, "drop\tffffffff8a13a20a");
        writer->end({});
        CHECK(writer->lines() == 3);
        CHECK_FALSE(writer->failure());
    }
    struct stat status {};
    ::stat(file.c_str(), &status);
    CHECK((status.st_mode & 07777) == 0600);

    auto reader = Reader::open(file).value();
    REQUIRE(reader.header());
    CHECK(reader.header()->setup.recipe == "dropwatch");
    CHECK(reader.header()->run_id.size() == 32);
    CHECK(reader.header()->start_epoch_ns > 1'700'000'000'000'000'000);
    const auto read = read_all(reader);
    CHECK(read.text == "stapgen\t2\tdropwatch\tdrop\tlocation:address\n\ndrop\tffffffff8a13a20a\n");
    CHECK(read.error.empty());
    REQUIRE(reader.trailer());
    CHECK(reader.trailer()->lines == 3);
    CHECK_FALSE(reader.trailer()->continued);
    CHECK(reader.trailer()->end_epoch_ns >= reader.header()->start_epoch_ns);
    CHECK_FALSE(reader.cut_short());
    CHECK_FALSE(reader.next_recording());
}

TEST_CASE("nothing is overwritten, nor a dangling link followed") {
    const Scratch scratch;
    const auto file = scratch.put("there", "old");
    const auto again = Writer::create(file, {});
    REQUIRE_FALSE(again);
    CHECK(again.error().what.ends_with("there: File exists"));
    CHECK(again.error().kind == stapgen::base::ErrorKind::bad_input);
    CHECK_FALSE(again.error().hint.empty());
    CHECK(content_of(file) == "old");

    fs::create_symlink(scratch / "nowhere", scratch / "link");
    CHECK_FALSE(Writer::create(scratch / "link", {}));
    CHECK_FALSE(fs::exists(scratch / "nowhere"));

    scratch.put("parts.1", "old");
    const auto second = Writer::create(scratch / "parts", {100'000, 0});
    REQUIRE_FALSE(second);
    CHECK(second.error().what.find("parts.1 exists") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "parts"));

    const auto nowhere = Writer::create(scratch / "no/such/folder", {});
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().kind == stapgen::base::ErrorKind::failed);
}

TEST_CASE("a recording to which no line came is removed") {
    const Scratch scratch;
    {
        auto writer = Writer::create(scratch / "empty", {}).value();
        CHECK(fs::exists(scratch / "empty"));
        writer->flush();
        writer->end({});
    }
    CHECK_FALSE(fs::exists(scratch / "empty"));
}

TEST_CASE("what was flushed is readable though the writer goes on, or is killed") {
    const Scratch scratch;
    auto writer = Writer::create(scratch / "live", {}).value();
    put(*writer, "first");
    put(*writer, "second");
    writer->flush();
    put(*writer, "third");
    auto reader = Reader::open(scratch / "live").value();
    CHECK(read_all(reader).text == "first\nsecond\n");
    CHECK(reader.cut_short());
    CHECK(reader.last_partial_line().empty());
}

TEST_CASE("a limit of the file's size is an error that is reported once, and what is there can be read") {
    const Scratch scratch;
    std::mt19937_64 random(4);
    auto writer = Writer::create(scratch / "short", {}).value();
    std::string written;
    {
        const FileSizeLimit limit(300'007);
        for (int i = 0; i < 20'011; ++i) {
            const auto line = noise(random);
            put(*writer, line);
            if (i % 503 == 0) writer->flush();
            written += line + "\n";
        }
        writer->end({});
    }
    REQUIRE(writer->failure());
    CHECK(writer->failure()->what.ends_with("File too large"));
    CHECK_FALSE(writer->failure()->hint.empty());
    CHECK(writer->lines() < 20'011);
    CHECK(fs::file_size(scratch / "short") == 300'007);
    auto reader = Reader::open(scratch / "short").value();
    const auto read = read_all(reader);
    CHECK(read.error.empty());
    CHECK(read.text.size() > 400'000);
    CHECK(written.starts_with(read.text));
    CHECK(reader.cut_short());
}

TEST_CASE("where nothing can be written the first error stays, and lines that come later do no harm") {
    const Scratch scratch;
    auto writer = Writer::create(scratch / "x", {}).value();
    std::string reported;
    {
        const FileSizeLimit limit(0);
        put(*writer, "first");
        writer->flush();
        if (writer->failure()) reported = writer->failure()->what;
        put(*writer, "second");
        writer->end({});
    }
    CHECK(reported.ends_with("x: File too large"));
    REQUIRE(writer->failure());
    CHECK(writer->failure()->what == reported);
    CHECK(fs::file_size(scratch / "x") == 0);
}

TEST_CASE("sizes and numbers of files are read, and what is none is refused with an example") {
    CHECK(parse_rotation("64MB").value().bytes == 64'000'000);
    CHECK(parse_rotation("64MB").value().files == 0);
    CHECK(parse_rotation("1.5MiB,5").value().bytes == 1'572'864);
    CHECK(parse_rotation("1.5MiB,5").value().files == 5);
    for (const char* wrong : {"", "x", "99kB", "1MB,", "1MB,0", "1MB,-1", "1MB,10001", "1MB,2,3", ",5", "-1MB"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_rotation(wrong));
    }
}

TEST_CASE("a rotated recording is whole in its parts, and each part is a recording") {
    const Scratch scratch;
    std::mt19937_64 random(5);
    const std::string header = "stapgen\t2\trx-latency\trx\ttime:time", ready = "ready\t17\t19",
                      fields = "fields\tmore\tx:int";
    std::string written;
    std::int64_t lines = 0;
    auto writer = Writer::create(scratch / "rx", {100'000, 0}).value();
    const auto write = [&](const std::string& line) {
        put(*writer, line);
        written += line + "\n";
        ++lines;
    };
    write(header);
    write(ready);
    for (int i = 0; i < 5'003; ++i) {
        write(noise(random));
        if (i == 1'009) write(fields);
    }
    writer->end({});
    REQUIRE_FALSE(writer->failure());

    std::string text, run;
    std::int64_t before = 0, part = 0;
    for (; fs::exists(part_path(scratch / "rx", part)); ++part) {
        CAPTURE(part);
        const auto file = part_path(scratch / "rx", part);
        CHECK(fs::file_size(file) < 300'000);
        auto reader = Reader::open(file).value();
        REQUIRE(reader.header());
        if (part == 0) run = reader.header()->run_id;
        CHECK(reader.header()->run_id == run);
        CHECK(reader.header()->part == part);
        CHECK(reader.header()->lines_before == before);
        if (part > 0) {
            auto alone = Reader::open(file).value();
            const auto repeated = header + "\n" + (reader.header()->repeated == 3 ? fields + "\n" : "") + ready + "\n";
            CHECK(read_all(alone).text.starts_with(repeated));
            reader.skip_repeated();
        }
        text += read_all(reader).text;
        REQUIRE(reader.trailer());
        before += reader.trailer()->lines;
        CHECK(reader.trailer()->continued == fs::exists(part_path(scratch / "rx", part + 1)));
    }
    CHECK(part > 2);
    CHECK(before == lines);
    CHECK(text == written);
}

TEST_CASE("of a rotated recording the newest files are kept, and a file in the way is not touched") {
    const Scratch scratch;
    std::mt19937_64 random(6);
    {
        auto writer = Writer::create(scratch / "rx", {100'000, 2}).value();
        for (int i = 0; i < 5'003; ++i)
            put(*writer, noise(random));
        writer->end({});
    }
    std::vector<std::int64_t> left;
    for (std::int64_t part = 0; part < 20; ++part) {
        if (fs::exists(part_path(scratch / "rx", part))) left.push_back(part);
    }
    REQUIRE(left.size() == 2);
    CHECK(left[0] > 0);
    CHECK(left[1] == left[0] + 1);
    CHECK(Reader::open(part_path(scratch / "rx", left[0])).value().header()->part == left[0]);

    scratch.put("other.2", "mine");
    auto writer = Writer::create(scratch / "other", {100'000, 2}).value();
    for (int i = 0; i < 5'003; ++i)
        put(*writer, noise(random));
    REQUIRE(writer->failure());
    CHECK(writer->failure()->what.ends_with("other.2: File exists"));
    CHECK(content_of(scratch / "other.2") == "mine");
    auto reader = Reader::open(scratch / "other.1").value();
    read_all(reader);
    CHECK_FALSE(reader.cut_short());
}
