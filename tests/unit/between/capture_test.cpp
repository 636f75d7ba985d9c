// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/capture.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/files.h"
#include "between/result.h"

using namespace stapgen;
using namespace stapgen::between;

namespace {

std::string big(std::uint64_t number, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i)
        text += static_cast<char>(number >> (8 * i));
    return text;
}

/// A capture in a folder of its own, of packets between a client and a server.
struct Capture {
    base::PrivateDirectory folder = base::PrivateDirectory::create().value();
    std::filesystem::path file = folder.path() / "db1.pcap";
    std::string content;
    enum class Frame { ip4, vlan, ip6 } frame = Frame::ip4;

    explicit Capture(std::uint32_t link = 1) {
        // Of nanoseconds, in network byte order; 65,535 bytes of each frame.
        content = "\xa1\xb2\x3c\x4d" + big(2, 2) + big(4, 2) + big(0, 8) + big(65535, 4) + big(link, 4);
    }
    void packet(std::int64_t time, bool to_server, std::uint32_t seq, std::uint32_t ack, std::size_t data) {
        const auto tcp = big(to_server ? 40000 : 5432, 2) + big(to_server ? 5432 : 40000, 2) + big(seq, 4) +
                         big(ack, 4) + big(0x5018, 2) + big(0, 6);
        std::string ip;
        if (frame == Frame::ip6) {
            const std::string client = big(0xfd09ULL << 48U, 8) + big(1, 8),
                              server = big(0xfd09ULL << 48U, 8) + big(2, 8);
            ip = big(0x60000000, 4) + big(20 + data, 2) + big(6, 1) + big(64, 1) +
                 (to_server ? client + server : server + client);
        } else {
            const auto client = big(0x0a000001, 4), server = big(0x0a090002, 4);
            ip = big(0x4500, 2) + big(40 + data, 2) + big(0x00014000, 4) + big(64, 1) + big(6, 1) + big(0, 2) +
                 (to_server ? client + server : server + client);
        }
        const std::string type = frame == Frame::ip4    ? big(0x0800, 2)
                                 : frame == Frame::vlan ? big(0x810000070800, 6)
                                                        : big(0x86dd, 2);
        const auto headers = std::string(12, '\1') + type + ip + tcp;  // the data was not kept
        constexpr std::int64_t ns_per_s = 1'000'000'000;
        content += big(static_cast<std::uint64_t>(time / ns_per_s), 4) +
                   big(static_cast<std::uint64_t>(time % ns_per_s), 4) + big(headers.size(), 4) +
                   big(headers.size() + data, 4) + headers;
    }
    base::Result<Host> read(std::uint16_t port = 0) {
        std::ofstream(file, std::ios::binary) << content;
        return read_capture(file, port);
    }
};

}  // namespace

TEST_CASE("a request is what is sent until its reply begins, whatever comes in pieces, again, or without data") {
    for (const auto frame : {Capture::Frame::ip4, Capture::Frame::vlan, Capture::Frame::ip6}) {
        Capture capture;
        capture.frame = frame;
        capture.packet(1'000, true, 0xfffffff0, 700, 11);
        capture.packet(1'300, true, 0xfffffffb, 700, 13);  // behind 2^32
        capture.packet(1'400, true, 0xfffffff0, 700, 11);  // again
        capture.packet(1'500, false, 700, 8, 0);
        capture.packet(4'700, false, 700, 8, 101);
        capture.packet(5'300, false, 801, 8, 103);
        capture.packet(9'000, true, 8, 904, 17);
        capture.packet(9'700, false, 904, 25, 19);
        capture.packet(9'900, true, 25, 923, 23);  // no reply
        const auto host = capture.read().value();
        CHECK(is_capture(capture.file));
        REQUIRE(host.capture.ends.size() == 2);
        const auto& first = host.capture.ends[0];
        CHECK(first.seq == 0xfffffff0);
        CHECK(first.reply_seq == 700);
        CHECK(first.from == 1'300);
        CHECK(first.to == 4'700);
        CHECK(first.rest == 600);
        CHECK(host.capture.ends[1].seq == 8);
        CHECK(host.capture.ends[1].to - host.capture.ends[1].from == 700);
        CHECK(host.connections.front().remote == (frame == Capture::Frame::ip6 ? "[fd09::2]:5432" : "10.9.0.2:5432"));
        CHECK(capture.read(40000).value().capture.ends.front().seq == 700);  // the port says who the server is
        CHECK(capture.read(443).value().capture.ends.empty());
    }
}

TEST_CASE("a reply that the server sent before it had all is of no request") {
    Capture capture;
    capture.packet(1'000, true, 100, 700, 11);
    capture.packet(1'900, true, 111, 700, 13);  // on its way when the first one was answered
    capture.packet(2'000, false, 700, 111, 101);
    capture.packet(3'000, false, 801, 124, 101);
    capture.packet(4'000, true, 124, 902, 17);
    capture.packet(5'000, false, 902, 141, 19);
    const auto host = capture.read().value();
    REQUIRE(host.capture.ends.size() == 1);
    CHECK(host.capture.ends.front().seq == 124);
}

TEST_CASE("of two captures that is the client's where replies take longer, and what it did inside is not known") {
    // Clocks may drift by more than a long request is on its way.
    for (const std::int64_t served : {100'000, 800'000'000}) {
        Capture app, db;
        for (std::uint32_t i = 0; i < 401; ++i) {
            const std::int64_t sent = 1'000'000'000LL * i, came = sent + 31'000;
            app.packet(sent, true, i * 7, i * 11, 7);
            db.packet(came, true, i * 7, i * 11, 7);
            db.packet(came + served, false, i * 11, i * 7 + 7, 11);
            app.packet(came + served + 37'000, false, i * 11, i * 7 + 7, 11);
        }
        std::vector hosts{db.read().value(), app.read().value()};
        hosts[1].name = "app1";
        const auto answer = between::between(hosts);
        REQUIRE(answer.results.size() == 1);
        const auto& result = answer.results.front();
        CHECK(result.client == "app1");
        CHECK(result.requests == 401);
        CHECK_FALSE(result.knows_client);
        REQUIRE(result.parts.size() == 2);
        CHECK(result.parts[0].mean_ns == 68'000);
        CHECK(result.parts[1].mean_ns == static_cast<double>(served));
        CHECK(result.seen_as == "10.0.0.1 asks 10.9.0.2:5432");
    }
}

TEST_CASE("packets that are not in the order of their times are of no request") {
    Capture capture;
    capture.packet(1'000, true, 1, 700, 11);
    capture.packet(900, false, 700, 12, 13);
    capture.packet(2'000, true, 12, 713, 11);
    capture.packet(2'300, false, 713, 23, 13);
    const auto host = capture.read().value();
    REQUIRE(host.capture.ends.size() == 1);
    CHECK(host.capture.ends.front().seq == 12);
}

TEST_CASE("what is cut or none is an error, or is read up to there") {
    Capture cut;
    cut.packet(1'000, true, 1, 2, 3);
    cut.packet(2'000, false, 2, 4, 5);
    cut.packet(3'000, true, 4, 7, 3);
    cut.content.resize(cut.content.size() - 5);
    CHECK(cut.read().value().capture.ends.size() == 1);
    Capture unknown(147);  // a link type of nobody's
    unknown.packet(1'000, true, 1, 2, 3);
    CHECK(unknown.read().value().capture.ends.empty());
    Capture none;
    none.content = "\xa1\xb2\x3c\x4d";
    CHECK_FALSE(none.read());
    CHECK_FALSE(is_capture("/dev/null"));
}
