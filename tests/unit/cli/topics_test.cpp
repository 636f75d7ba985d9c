// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/help/help.h"
#include "kinds/drops/advice.h"
#include "kinds/latency/waits.h"
#include "launch/messages.h"

using namespace stapgen;

namespace {

std::string printed(std::string_view topic, const std::vector<std::string>& words = {}) {
    const auto found = std::ranges::find(cli::help_topics(), topic, &cli::Topic::name);
    REQUIRE(found != cli::help_topics().end());
    const auto text = found->text({}, words);
    REQUIRE_MESSAGE(text, topic);
    return *text;
}

base::Error refused(std::string_view topic, const std::vector<std::string>& words) {
    const auto found = std::ranges::find(cli::help_topics(), topic, &cli::Topic::name);
    REQUIRE(found != cli::help_topics().end());
    const auto text = found->text({}, words);
    REQUIRE_FALSE(text);
    return text.error();
}

std::ptrdiff_t count_of(const std::string& text, const std::string& line_begin) {
    const auto lines = base::split(text, '\n');
    return std::ranges::count_if(lines, [&](std::string_view line) { return line.starts_with(line_begin); });
}

/// Without the ends of wrapped lines.
std::string joined(const std::string& text) {
    return boost::replace_all_copy(text, "\n  ", " ");
}

std::string subject_of(const kinds::drops::DropAdvice& drop) {
    return std::string(drop.reason) + (drop.function.empty() ? "" : " in " + std::string(drop.function));
}

}  // namespace

TEST_CASE("each drop of the table is printed once, with its advice, in lines that fit") {
    const auto text = printed("drop-reasons");
    for (const auto& drop : kinds::drops::known_drops()) {
        const auto subject = subject_of(drop) + (drop.benign ? " *: " : ": ");
        CAPTURE(subject);
        CHECK(count_of(text, subject) == 1);
        CHECK(joined(text).find(subject + std::string(drop.text) + '\n') != std::string::npos);
    }
    for (const auto line : base::split(text, '\n'))
        CHECK(line.size() <= base::default_width);
}

TEST_CASE("a name, a part of it, a pattern and a place choose drops") {
    const auto named = printed("drop-reasons", {"no_socket"});
    CHECK(named.starts_with("NO_SOCKET: nobody listens there"));
    CHECK(count_of(named, "NO_SOCKET") == 4);
    CHECK(named.find("\n*: part of normal operation") != std::string::npos);
    CHECK(count_of(printed("drop-reasons", {"XDP"}), "XDP: ") == 1);
    const auto pattern = printed("drop-reasons", {"udp*"});
    CHECK(count_of(pattern, "UDP_CSUM: ") == 1);
    CHECK(pattern.find("in udp_destruct_sock: ") != std::string::npos);
    CHECK(pattern.find("TCP_CSUM") == std::string::npos);
    CHECK(count_of(printed("drop-reasons", {"csum"}), "TCP_CSUM: ") == 1);
    CHECK(printed("drop-reasons", {"tpacket_rcv"}).starts_with("NOT_SPECIFIED in tpacket_rcv: "));
    CHECK(refused("drop-reasons", {"NO_SOCKT"}).hint.find("NO_SOCKET") != std::string::npos);
    CHECK(refused("drop-reasons", {"A", "B"}).kind == base::ErrorKind::bad_input);
}

TEST_CASE("each message of the table is printed once, with cause and remedy, below its pass") {
    const auto text = printed("stap-failures");
    const auto all = joined(text);
    for (const auto& row : launch::message_table()) {
        const auto message = launch::described(row, {"RELEASE", "", ""});
        CAPTURE(message.line);
        const auto lines = base::split(text, '\n');
        CHECK(std::ranges::count_if(lines, [&](std::string_view line) {
                  return line == message.line || line == message.line + " (warning)" ||
                         line == message.line + " (loss)";
              }) == 1);
        CHECK(all.find(message.cause) != std::string::npos);
        CHECK(all.find(message.remedy) != std::string::npos);
    }
    CHECK(count_of(text, "Pass 4, compiling the module:") == 1);
}

TEST_CASE("a whole message is explained with its own words, a part of one lists what has it") {
    const auto one = printed("stap-failures", {"ERROR:", "Couldn't insert module 'x': File exists"});
    CHECK(one.find("staprun -d NAME") != std::string::npos);
    CHECK(count_of(one, "Pass") == 0);
    const auto some = printed("stap-failures", {"insert module"});
    CHECK(some.starts_with("Pass 5, running:\n"));
    CHECK(count_of(some, "Couldn't insert module") == 8);
    CHECK(refused("stap-failures", {"nonsense"}).what.find("nonsense") != std::string::npos);
}

TEST_CASE("each wait of the table is printed once, with what is known of it, in lines that fit") {
    const auto text = printed("waits");
    const auto all = fmt::format("{} ", fmt::join(base::words(boost::replace_all_copy(text, "\n", " ")), " "));
    for (const auto& wait : kinds::latency::known_waits()) {
        const auto name = wait.names().front();
        CAPTURE(name);
        CHECK(count_of(text, name + ": ") + count_of(text, name + ", ") == 1);
        CHECK(all.find("waited " + std::string(wait.what) + " known: " + std::string(wait.known) +
                       " remedy: " + std::string(wait.remedy) + ' ') != std::string::npos);
        for (const auto& each : wait.names())
            CHECK(kinds::latency::wait_of(each) == &wait);
    }
    for (const auto line : base::split(text, '\n'))
        CHECK(line.size() <= base::default_width);
    CHECK(kinds::latency::wait_of("no-such-stage") == nullptr);
}

TEST_CASE("a stage, a part or its cause alone chooses waits") {
    CHECK(count_of(printed("waits", {"nagle"}), "app-tcp.nagle: ") == 1);
    CHECK(printed("waits", {"app-tcp.nagle"}) == printed("waits", {"nagle"}));
    CHECK(printed("waits", {"udp-app.asleep"}).starts_with("tcp-app.asleep, udp-app.asleep: "));
    CHECK(count_of(printed("waits", {"undivided"}), "  known: ") == 3);
    CHECK(count_of(printed("waits", {"udp-app"}), "  known: ") == 8);
    CHECK(refused("waits", {"nagel"}).hint.find("'nagle'") != std::string::npos);
    CHECK(refused("waits", {"ap"}).kind == base::ErrorKind::bad_input);
}
