// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/kept_sides.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/files.h"
#include "kept_recording.h"
#include "session/replay.h"
#include "show/formats.h"

using namespace stapgen;

namespace {

kinds::Measured measured_of(const KeptRecording& made, const session::ReplayOptions& options = {}) {
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "a.kept.rec";
    REQUIRE(base::create_file(file, made.text()));
    auto read = session::load({file}, session::Presentation(), {}, options);
    REQUIRE(read);
    REQUIRE(read->size() == 1);
    return read->front();
}

rows::Kept kept_of(const KeptRecording& made, const session::ReplayOptions& options = {}) {
    const auto measured = measured_of(made, options);
    REQUIRE(measured.of<rows::Kept>().size() == 1);
    return measured.of<rows::Kept>().front();
}

/// From 1 s before the moment to 2 s after it.
bool is_spike(double at) {
    return at >= 30 && at < 33;
}

}  // namespace

TEST_CASE("two of forty connections wait for a CPU at the moment, and that is all that differs") {
    KeptRecording made;
    made.more_run_queue = [](int connection, double at) {
        return is_spike(at) && (connection == 11 || connection == 29) ? 4'100'000 : 0;
    };
    const auto kept = kept_of(made);
    CHECK(kept.condition == "tcp-app.run-queue p99 > 3ms over 1s");
    CHECK(kept.value == "4.10 ms");
    CHECK(kept.at == made.kept.at_epoch_ns);
    CHECK(kept.moment_before_ns == 1'000'000'000);
    CHECK(kept.moment_after_ns == 1'000'000'000);
    // 29 s and 2 s of 35.
    CHECK(*kept.n_before > 2'850);
    CHECK(*kept.n_before < 2'990);
    CHECK(*kept.n_at > 190);
    CHECK(*kept.n_at < 215);
    CHECK(kept.result == "changed");
    REQUIRE(kept.changes.size() == 1);
    const auto& change = kept.changes.front();
    CHECK(change.part == "tcp-app.run-queue");
    CHECK(change.n_at == *kept.n_at);
    CHECK(change.owner == "connection");
    CHECK(change.owners == 40);
    CHECK(change.owners_changed == 2);
    CHECK(*change.change_of_changed_ns == doctest::Approx(4'100'000).epsilon(0.001));
    CHECK(change.before_ns == doctest::Approx(2'203).epsilon(0.02));
    CHECK(change.at_ns - change.before_ns == doctest::Approx(205'000).epsilon(0.15));
    CHECK(kept.sentence ==
          "tcp-app.run-queue +4.10 ms at the moment, in 2 of 40 connections (10.0.0.1:6379 with 10.0.0.7:50029, "
          "10.0.0.1:6379 with 10.0.0.7:50011)");
}

TEST_CASE("a report begins with the condition, and says what differs") {
    KeptRecording made;
    made.more_run_queue = [](int connection, double at) { return is_spike(at) && connection < 2 ? 4'100'000 : 0; };
    const auto results = session::results_of(measured_of(made), {});
    REQUIRE(results.sentences.kept.size() == 2);
    CHECK(results.sentences.kept[0].find("tcp-app.run-queue p99 > 3ms over 1s (4.10 ms); the 30.0 s before and 4.00 s "
                                         "after") != std::string::npos);
    CHECK(results.sentences.kept[1].starts_with("tcp-app.run-queue +4.10 ms at the moment, in 2 of 40 connections"));
}

TEST_CASE("where nothing changed it says so") {
    const auto kept = kept_of({});
    CHECK(kept.result == "same");
    CHECK(kept.changes.empty());
    CHECK(kept.sentence.starts_with("nothing differs significantly at the moment: "));
}

TEST_CASE("a stage without parts that all packets spend longer in") {
    KeptRecording made;
    made.more_ip_tcp = [](int, double at) { return is_spike(at) ? 53'000 : 0; };
    const auto kept = kept_of(made);
    REQUIRE(kept.changes.size() == 1);
    CHECK(kept.changes.front().part == "ip-tcp");
    CHECK(kept.changes.front().owners_changed == 40);
    CHECK(kept.sentence == "ip-tcp +53.0 us at the moment, in all 40 connections");
}

TEST_CASE("the same over IPv6, and of what became shorter") {
    KeptRecording made;
    made.is_ip6 = true;
    made.more_run_queue = [](int connection, double at) { return is_spike(at) && connection == 3 ? 7'100'000 : 0; };
    CHECK(kept_of(made).sentence ==
          "tcp-app.run-queue +7.10 ms at the moment, in 1 of 40 connections ([2001:db8::1]:6379 with "
          "[2001:db8::7]:50003)");
    made.more_run_queue = [](int, double at) { return is_spike(at) ? 0 : 300'000; };
    const auto kept = kept_of(made);
    REQUIRE(kept.changes.size() == 1);
    CHECK(kept.sentence.starts_with("tcp-app.run-queue -300 us at the moment, in all 40 connections"));
}

TEST_CASE("two that changed are named, the larger first, and what is a tenth of it or less is not") {
    KeptRecording made;
    made.more_ip_tcp = [](int, double at) { return is_spike(at) ? 53'000 : 0; };
    made.more_run_queue = [](int, double at) { return is_spike(at) ? 101'000 : 0; };
    CHECK(kept_of(made).sentence ==
          "tcp-app.run-queue +101 us at the moment, in all 40 connections; ip-tcp +53.0 us, in all 40 connections");
    made.more_ip_tcp = [](int, double at) { return is_spike(at) ? 7'000 : 0; };
    CHECK(kept_of(made).changes.size() == 1);
}

TEST_CASE("with too few records nothing is claimed") {
    KeptRecording made;
    made.connections = 2;
    made.every_ns = 1'999'000'003;
    made.more_run_queue = [](int, double at) { return is_spike(at) ? 4'100'000 : 0; };
    const auto kept = kept_of(made);
    CHECK(kept.result.empty());
    CHECK(kept.changes.empty());
    CHECK(kept.sentence.starts_with("what differs at the moment is not known: not enough samples, "));
    // The whole is before the moment, or after it.
    for (const std::int64_t at : {-100, 100}) {
        made.kept.at_epoch_ns = KeptRecording::start_epoch + at * KeptRecording::second;
        CHECK(kept_of(made).result.empty());
    }
}

TEST_CASE("the moment is as long as the condition's window, and ends with what was kept") {
    KeptRecording made;
    made.kept.condition = "lost rise > 0 over 7s";
    auto kept = kept_of(made);
    CHECK(kept.moment_before_ns == 7'000'000'000);
    CHECK(kept.moment_after_ns == 4'000'000'000);
    made.kept.condition = "SIGUSR1";
    kept = kept_of(made);
    CHECK(kept.moment_before_ns == 1'000'000'000);
    CHECK(kept.moment_after_ns == 1'000'000'000);
}

TEST_CASE("only records that are selected are compared") {
    KeptRecording made;
    made.more_run_queue = [](int connection, double at) { return is_spike(at) && connection == 0 ? 9'000'000 : 0; };
    session::ReplayOptions options;
    options.selection.port = 50'001;
    options.selection.options = "--port 50001";
    const auto kept = kept_of(made, options);
    CHECK(*kept.n_before < 80);
    CHECK(kept.result != "changed");
}

TEST_CASE("times at the ends of 64 bits and long conditions do no harm") {
    KeptRecording made;
    // A line of so many bytes is none of a recording's.
    made.kept.condition = std::string(4'000'000, 'x');
    CHECK(measured_of(made).of<rows::Kept>().empty());
    made.connections = 2;
    using Limits = std::numeric_limits<std::int64_t>;
    for (const auto at : {Limits::min(), Limits::max(), std::int64_t{0}}) {
        for (const auto length : {Limits::min(), Limits::max()}) {
            made.kept = {std::string(20'000, '\x1b') + std::string(20'000, '\xff'),
                         std::string(1000, '\n'),
                         at,
                         length,
                         length,
                         length};
            const auto measured = measured_of(made);
            REQUIRE(measured.of<rows::Kept>().size() == 1);
            const auto& kept = measured.of<rows::Kept>().front();
            CHECK(kept.condition.size() <= 320);
            CHECK(kept.result.empty());
            for (const auto& line : session::results_of(measured, {}).sentences.kept) {
                CHECK(line.size() < 3'000);
                CHECK(line.find('\x1b') == std::string::npos);
                CHECK(line.find('\n') == std::string::npos);
            }
            for (const auto& format : show::formats()) {
                if (format.is_trace || format.write == nullptr) continue;
                std::ostringstream out;
                session::Presentation presentation;
                presentation.format = &format;
                session::present(out, std::vector{measured}, presentation);
                CHECK(out.str().find('\x1b') == std::string::npos);
            }
        }
    }
}
