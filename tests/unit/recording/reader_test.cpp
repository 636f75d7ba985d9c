// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "analyze/analyzer.h"
#include "base/text.h"
#include "decode/record_parser.h"
#include "scratch.h"
#include "unit/rows.h"

using namespace stapgen::recording;
namespace io = boost::iostreams;

namespace {

template <class Compressor>
std::string packed(const std::string& text, Compressor compressor) {
    std::string out;
    io::filtering_ostream stream;
    stream.push(compressor);
    stream.push(io::back_inserter(out));
    stream << text;
    stream.reset();
    return out;
}

std::string numbers(int count) {
    std::mt19937_64 random(7);
    std::string text;
    for (int i = 0; i < count; ++i)
        text += "rx\t" + std::to_string(random()) + "\n";
    return text;
}

/// A small recording, flushed after each line, and the lines in it.
std::string small_recording(const Scratch& scratch, std::string& lines) {
    const auto file = scratch / "small";
    std::filesystem::remove(file);
    auto writer = Writer::create(file, {}).value();
    for (int i = 0; i < 23; ++i) {
        const auto line = "drop\t" + std::to_string(7919 * i * i);
        put(*writer, line);
        writer->flush();
        lines += line + "\n";
    }
    writer->end({});
    return content_of(file);
}

std::string decompressed(const std::string& recording) {
    std::istringstream in(recording);
    io::filtering_istream stream;
    stream.push(io::zstd_decompressor());
    stream.push(in);
    std::string text;
    io::copy(stream, io::back_inserter(text));
    return text;
}

}  // namespace

TEST_CASE("any text is read whole, plain or compressed, once or several in a row") {
    const Scratch scratch;
    const auto text = numbers(100'003);
    const auto zstd = packed(text, io::zstd_compressor()), gzip = packed(text, io::gzip_compressor()),
               xz = packed(text, io::lzma_compressor());
    for (const auto& content : {text, zstd, gzip, xz}) {
        for (const auto& [times, bytes] : {std::pair{1, content}, {2, content + content}}) {
            auto reader = Reader::open(scratch.put("text", bytes)).value();
            const auto read = read_all(reader);
            CHECK(read.error.empty());
            CHECK((read.text == (times == 1 ? text : text + text)));
            CHECK_FALSE(reader.cut_short());
            CHECK_FALSE(reader.header());
            CHECK(reader.next().value().empty());
        }
    }
}

TEST_CASE("an empty input, and one of a few bytes, is no error") {
    const Scratch scratch;
    for (const char* text :
         {"", "\n", "x\n", "\x28\xb5\n", "recording\n", "recording\t1\t{}x\n", "recording-end\t{\n"}) {
        CAPTURE(text);
        auto reader = Reader::open(scratch.put("text", text)).value();
        CHECK(read_all(reader).text == text);
        CHECK_FALSE(reader.cut_short());
    }
    CHECK_FALSE(Reader::open(scratch / "none"));
    CHECK_FALSE(Reader::open(scratch / "."));
}

TEST_CASE("a pipe is read as what comes") {
    const Scratch scratch;
    const auto text = numbers(10'007);
    const auto fifo = scratch / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    std::thread other([&] {
        const int fd = ::open(fifo.c_str(), O_WRONLY);
        for (std::size_t at = 0; at < text.size(); at += 4093)
            CHECK(::write(fd, text.data() + at, std::min<std::size_t>(4093, text.size() - at)) > 0);
        ::close(fd);
    });
    auto reader = Reader::open(fifo).value();
    CHECK((read_all(reader).text == text));
    other.join();
}

TEST_CASE("what follows the last line end is kept apart") {
    const Scratch scratch;
    auto reader = Reader::open(scratch.put("text", "one\ntwo")).value();
    CHECK(read_all(reader).text == "one\n");
    CHECK(reader.last_partial_line() == "two");
}

TEST_CASE("of a line above 1 MiB the beginning is handed out, and the next line is whole") {
    const Scratch scratch;
    const std::string limit(1024 * 1024 - 1, 'a');
    for (const std::size_t more : {0, 1, 2, 700'001, 5'000'011}) {
        CAPTURE(more);
        const auto text = "before\n" + limit + std::string(more, 'b') + "\nafter\n";
        auto reader = Reader::open(scratch.put("text", text)).value();
        CHECK((read_all(reader).text == "before\n" + limit + "\nafter\n"));
        auto last = Reader::open(scratch.put("text", "before\n" + limit + std::string(more + 1, 'b'))).value();
        CHECK((read_all(last).text == "before\n" + limit + "\n"));
        CHECK(last.last_partial_line().empty());
    }
}

TEST_CASE("a recording cut anywhere is readable up to the last line that was flushed") {
    const Scratch scratch;
    std::string lines;
    const auto whole = small_recording(scratch, lines);
    std::size_t longest = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        auto reader = Reader::open(scratch.put("cut", whole.substr(0, size))).value();
        const auto read = read_all(reader);
        CHECK(read.error.empty());
        CHECK(lines.starts_with(read.text));
        CHECK(read.text.size() >= longest);
        longest = read.text.size();
        if (size > 6) CHECK(reader.cut_short());
    }
    CHECK(longest == lines.size());
}

TEST_CASE("text compressed otherwise and cut anywhere gives a beginning of it and is said to be cut") {
    const Scratch scratch;
    const auto text = numbers(211);
    for (const auto& whole : {packed(text, io::gzip_compressor()), packed(text, io::lzma_compressor())}) {
        for (std::size_t size = 7; size < whole.size(); size += 13) {
            CAPTURE(size);
            auto reader = Reader::open(scratch.put("cut", whole.substr(0, size))).value();
            const auto read = read_all(reader);
            CHECK(read.error.empty());
            CHECK(text.starts_with(read.text));
            CHECK(reader.cut_short());
        }
    }
}

TEST_CASE("damage in the middle is an error with its place, after what comes before") {
    const Scratch scratch;
    std::string lines;
    auto whole = small_recording(scratch, lines);
    const auto middle = whole.size() / 2;
    auto half = Reader::open(scratch.put("half", whole.substr(0, middle))).value();
    whole.insert(middle, "damage");
    auto reader = Reader::open(scratch.put("damaged", whole)).value();
    const auto read = read_all(reader);
    CHECK(read.error.find("the compressed data is damaged at byte") != std::string::npos);
    CHECK(lines.starts_with(read.text));
    CHECK(reader.next().value().empty());
    // All blocks before the damaged one.
    const auto before = read_all(half).text;
    CHECK_FALSE(before.empty());
    CHECK(read.text.starts_with(before));
}

TEST_CASE("changed bytes anywhere never do worse than an error") {
    const Scratch scratch;
    std::string lines;
    const auto whole = small_recording(scratch, lines);
    const auto text = decompressed(whole);
    const auto gzip = packed(text, io::gzip_compressor()), xz = packed(text, io::lzma_compressor());
    std::mt19937_64 random(8);
    int errors = 0, fine = 0;
    for (int i = 0; i < 2'003; ++i) {
        CAPTURE(i);
        auto content = i % 4 == 0 ? text : i % 4 == 1 ? gzip : i % 4 == 2 ? xz : whole;
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
            const auto at = random() % content.size();
            if (random() % 3 == 0) {
                content.erase(at, 1 + random() % 40);
            } else {
                content[at] = static_cast<char>(random());
            }
        }
        auto reader = Reader::open(scratch.put("changed", content));
        if (!reader) {
            ++errors;
            continue;
        }
        do {
            const auto read = read_all(*reader);
            read.error.empty() ? ++fine : ++errors;
        } while (reader->next_recording());
    }
    CHECK(errors > 100);
    CHECK(fine > 100);
}

TEST_CASE("a paste of a recording reads as its file, with a prompt before and behind it") {
    const Scratch scratch;
    std::string lines;
    const auto text = decompressed(small_recording(scratch, lines));
    for (const auto& [before, behind] : {std::pair{"", ""}, {"$ zstd -dc x\n", "$ \n"}, {"{\n", "{"}}) {
        CAPTURE(before);
        auto reader = Reader::open(scratch.put("paste", before + text + behind)).value();
        const auto read = read_all(reader);
        const std::string rest = behind;
        CHECK(read.text == before + lines + (rest.ends_with('\n') ? rest : ""));
        REQUIRE(reader.header());
        CHECK(reader.header()->setup.recipe == "dropwatch");
        CHECK(reader.trailer()->lines == 23);
        CHECK_FALSE(reader.cut_short());
    }
    auto without_end = Reader::open(scratch.put("paste", text.substr(0, text.size() - 1))).value();
    CHECK(read_all(without_end).text == lines);
    CHECK(without_end.trailer());
    CHECK_FALSE(without_end.cut_short());
    CHECK(without_end.last_partial_line().empty());
}

TEST_CASE("several recordings in a row are told apart, packed or as text") {
    const Scratch scratch;
    std::string lines, more;
    const auto first = small_recording(scratch, lines), second = small_recording(scratch, more);
    for (const auto& both : {first + second, decompressed(first) + decompressed(second), first + second + first}) {
        auto reader = Reader::open(scratch.put("both", both)).value();
        const auto run = reader.header()->run_id;
        CHECK(read_all(reader).text == lines);
        CHECK(reader.trailer());
        REQUIRE(reader.next_recording());
        CHECK(reader.header()->run_id != run);
        CHECK_FALSE(reader.trailer());
        CHECK(read_all(reader).text == more);
        CHECK(reader.trailer());
        CHECK(reader.next_recording() == (both.size() == 2 * first.size() + second.size()));
    }
}

TEST_CASE("a recording of aggregated records has the numbers of what was recorded") {
    // Made up, as a script prints it: 401 records in three seconds and a bit, of which four have no tcp-app.
    auto reader = Reader::open(TEST_DATA "/aggregated-version-4.zst").value();
    std::string text;
    while (true) {
        const auto lines = reader.next().value();
        if (lines.empty()) break;
        text += lines;
    }
    stapgen::decode::RecordParser parser;
    std::optional<stapgen::analyze::Analyzer> analyzer;
    for (const auto line : stapgen::base::split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
        const auto parsed = parser.feed(line);
        if (!analyzer) analyzer = stapgen::analyze::Analyzer::create(*parser.header()).value();
        analyzer->add(parsed);
    }
    CHECK(parser.header()->version == 4);
    CHECK(parser.header()->recipe == "rx-latency");
    CHECK(parser.header()->aggregated);
    CHECK(parser.header()->silent);
    CHECK(parser.input().lines == 238);
    CHECK(parser.input().unrecognised == 0);
    const auto summary = stapgen::summaries::summary_of(analyzer->measured());
    CHECK(summary.aggregated == 401);
    CHECK(summary.accounting.seen == 418);
    CHECK(summary.accounting.reported == 401);
    CHECK(summary.accounting.filtered == 17);
    CHECK(stapgen::summaries::is_whole(summary));
    REQUIRE(summary.stages.size() == 2);
    const auto &driver = summary.stages[0].stats, &app = summary.stages[1].stats;
    CHECK(driver.n() == 401);
    CHECK(driver.sum() == 1'406'059);
    CHECK(driver.min() == 3001);
    CHECK(driver.max() == 4007);
    CHECK(std::abs(*driver.percentile(50) - 3507) <= 3507 / 512);
    CHECK(std::abs(*driver.percentile(99) - 3999) <= 3999 / 512);
    CHECK(app.n() == 397);
    CHECK(app.sum() == 74'971'870);
    CHECK(app.min() == 80'021);
    CHECK(app.max() == 2'325'896);
    CHECK(std::abs(*app.percentile(90) - 258'017) <= 258'017 / 512);
    REQUIRE(summary.breakdowns.size() == 1);
    CHECK(summary.breakdowns[0].total().n() == 401);
    CHECK(summary.breakdowns[0].slowest().front().total_ns == 2'329'399);
    CHECK(summary.series.blocks().size() == 4);
}

TEST_CASE("a file of version 1 is read as it was written") {
    // By stapgen exec of dropwatch in a guest with Linux 6.12, while a closed TCP port was tried 109 times.
    auto reader = Reader::open(TEST_DATA "/dropwatch-version-1.zst").value();
    const auto& header = reader.header();
    REQUIRE(header);
    CHECK(header->version == 1);
    CHECK(header->run_id == "ddbfc0cdfad1ccd8fdde5dc9c4366536");
    CHECK(header->part == 0);
    CHECK(header->lines_before == 0);
    CHECK(header->repeated == 0);
    CHECK(header->start_epoch_ns == 1795205723413791752);
    CHECK(header->setup.recipe == "dropwatch");
    CHECK(header->setup.command ==
          std::vector<std::string>{"stapgen", "exec", "drops.ko", "--format", "json", "-o", "refused.zst"});
    CHECK_FALSE(header->setup.parameters);
    CHECK(header->setup.filters.empty());
    CHECK(header->setup.hash_of == "module");
    CHECK(header->setup.sha256 == "d23ae93657da633a0027a880f5aebc3ea0db3731c0af7edf07628cd7e51f5b53");
    CHECK(header->setup.stapgen_version == "0.1.0");
    CHECK(header->setup.stap_version.empty());
    CHECK(header->setup.host == "lab");
    CHECK(header->setup.kernel.release == "6.12.117+deb13-amd64");
    CHECK(header->setup.kernel.build_id == "b1d7a9114053a488ef493f85f85e9fc75ba9f632");
    CHECK(header->setup.kernel.architecture == "x86_64");
    CHECK(header->setup.clocks.at("time") == "CLOCK_MONOTONIC");
    CHECK(header->setup.kernel.text == 0xffffffffa5000000);
    CHECK(header->setup.kernel.stext == 0xffffffffa5000000);
    CHECK(header->setup.kernel.etext == 0xffffffffa6000000);
    REQUIRE(header->setup.kernel.modules.size() == 12);
    CHECK(header->setup.kernel.modules[1].name == "overlay");
    CHECK(header->setup.kernel.modules[1].base == 0xffffffffc0473000);
    CHECK(header->setup.kernel.modules[1].size == 217088);
    CHECK(header->setup.drop_reasons.at(3) == "NO_SOCKET");
    CHECK(header->setup.counters.contains("softnet.processed"));
    CHECK(read_all(reader).text ==
          "stapgen\t2\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\n"
          "ready\t1795205723613347937\t33069299792\n"
          "drop\tffffffffa5b3a20a\t3\t109\n"
          "end\t1795205724661541936\tseen=109\treported=109\tlost.evicted=0\n");
    const auto& trailer = reader.trailer();
    REQUIRE(trailer);
    CHECK(trailer->end_epoch_ns == 1795205727208068831);
    CHECK_FALSE(trailer->continued);
    CHECK(trailer->lines == 4);
    CHECK(trailer->outcome.counters.at(0).name == "TcpExt.ListenOverflows");
    CHECK(trailer->outcome.counters.at(0).count == 0);
    CHECK(trailer->outcome.net_counters.at("Tcp.OutRsts") == header->setup.counters.at("Tcp.OutRsts") + 109);
    REQUIRE(trailer->outcome.addresses.size() == 1);
    CHECK(trailer->outcome.addresses[0].address == 0xffffffffa5b3a20a);
    CHECK(trailer->outcome.addresses[0].symbol == "tcp_v4_rcv");
    CHECK(trailer->outcome.addresses[0].offset == 154);
    CHECK(trailer->outcome.addresses[0].module.empty());
    CHECK_FALSE(reader.cut_short());
}

TEST_CASE("a newer version is refused, with what to do") {
    const Scratch scratch;
    const auto newer = Reader::open(scratch.put("newer", "recording\t2\t{}\nrx\t17\n"));
    REQUIRE_FALSE(newer);
    CHECK(newer.error().what == "the recording is of version 2; this stapgen reads versions up to 1");
    CHECK_FALSE(newer.error().hint.empty());
    auto later = Reader::open(scratch.put("later", "rx\t17\nrecording\t2\t{}\nrx\t17\n")).value();
    const auto read = read_all(later);
    CHECK(read.text == "rx\t17\n");
    CHECK(read.error == newer.error().what);
}

TEST_CASE("repeated lines are left out where that is asked for, and no others") {
    const Scratch scratch;
    Header header;
    header.part = 1;
    header.repeated = 2;
    const auto text = header_line(header) + "stapgen\nready\nrx\t1\n";
    auto all = Reader::open(scratch.put("part", text)).value();
    CHECK(read_all(all).text == "stapgen\nready\nrx\t1\n");
    auto rest = Reader::open(scratch / "part").value();
    rest.skip_repeated();
    CHECK(read_all(rest).text == "rx\t1\n");
    header.repeated = 1'000'003;
    auto lying =
        Reader::open(scratch.put("lying", header_line(header) + "rx\t1\n" + trailer_line({}) + "rx\t2\n")).value();
    lying.skip_repeated();
    CHECK(read_all(lying).text == "rx\t2\n");
    CHECK(lying.trailer());
}
