// SPDX-License-Identifier: GPL-2.0-or-later
// A text that is read in pieces, by several threads, says what it says when it is read from end to end: to the byte, in
// JSON and as text, whatever it is and wherever it is cut. All formats: files_test.cpp.

#include "session/pieces.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "answers.h"
#include "disguise.h"
#include "session/session.h"
#include "texts.h"

using namespace stapgen;
using namespace stapgen::pieces;
using decode::FormatDetector;

namespace {

/// What a text says that is fed to a detector. Nothing is left out: also which messages there were.
class Reader final : public FormatDetector::Sink {
  public:
    explicit Reader(report::Presentation presentation) : presentation_(std::move(presentation)) {}

    /// The first lines as they are, the rest in pieces if that is asked for.
    std::string read(std::string_view text, std::size_t first, const std::optional<session::Reading>& reading) {
        const session::SharedCores shared{reading ? reading->cores : 1, 1};
        const session::Reading none{.cores = 1};
        session::Pieces in_pieces(detector_, *this, reading ? *reading : none, shared);
        while (!text.empty()) {
            const auto lines = text.substr(0, text.find('\n', std::min(first, text.size() - 1)) + 1);
            text.remove_prefix(lines.size());
            if (last_ != nullptr) in_pieces.set(nullptr, *sessions_.at(last_));
            if (last_ == nullptr || !reading || !in_pieces.take(lines)) {
                in_pieces.finish();
                detector_.feed(lines, *this);
            }
        }
        in_pieces.finish();
        detector_.finish({}, *this);
        return answer();
    }

    void record(FormatDetector::Source& source, const decode::Record& record) override {
        session_of(source).add(record);
    }
    void line(FormatDetector::Source& source, const decode::Line& line) override { session_of(source).add(line); }
    void message(std::string_view text) override { messages_ += fmt::format("{}\n", text); }

  private:
    session::Session& session_of(FormatDetector::Source& source) {
        last_ = &source;
        auto& session = sessions_[&source];
        if (!session) {
            const session::SessionOptions options{.resolution_ns = source.resolution_ns};
            session = std::make_unique<session::Session>(presentation_, options, nowhere_);
        }
        return *session;
    }

    std::string answer() {
        std::string all = messages_;
        for (auto* source : detector_.sources()) {
            auto summary = sessions_.at(source)->summary();
            std::ranges::move(source->notes(), std::back_inserter(summary.notes));
            summary.input = detector_.input();
            all += source->title + written(std::span(&summary, 1), presentation_, numbers_and_text());
        }
        const auto& input = detector_.input();
        all += fmt::format("{} lines, {} recognised\n", input.lines, input.recognised);
        for (const auto& [number, flaw, excerpt] : input.first_flaws)
            all += fmt::format("{}: {}: {}\n", number, decode::describe(flaw), excerpt);
        return all;
    }

    report::Presentation presentation_;
    std::ostringstream nowhere_;
    FormatDetector detector_;
    std::map<FormatDetector::Source*, std::unique_ptr<session::Session>> sessions_;
    FormatDetector::Source* last_ = nullptr;
    std::string messages_;
};

/// Its first lines are read by themselves, so that something is known of it.
void check_pieces(std::string_view text, std::size_t first, std::size_t pieces,
                  const report::Presentation& presentation) {
    const auto whole = Reader(presentation).read(text, first, std::nullopt);
    const auto parts = Reader(presentation).read(text, first, in_pieces(text.size(), pieces));
    CHECK(difference(whole, parts) == "");
    // Nor does it matter how many lines are fed at once.
    CHECK(difference(whole, Reader(presentation).read(text, text.size(), std::nullopt)) == "");
}

}  // namespace

TEST_CASE("random texts of the formats that are read in pieces, in 2 to 17 pieces") {
    Random random(20261124);
    for (int round = 0; round < 24; ++round) {
        for (const auto& kind : kinds()) {
            const auto lines = 3 + below(random, round % 10 == 0 ? 30'000 : 3'000);
            auto text = kind.text(random, lines);
            if (round % 3 == 1) text = disturbed(random, text, 1 + below(random, lines));
            if (round % 7 == 1) text = disturbed(random, text, 5);
            const auto pieces = static_cast<std::size_t>(2 + below(random, 16));
            CAPTURE(kind.name);
            CAPTURE(round);
            check_pieces(text, static_cast<std::size_t>(1 + below(random, 1000)), pieces, {});
        }
    }
}

TEST_CASE("texts of every kind that is read, of many rows") {
    Random random(1009);
    for (const auto& format : disguises::formats()) {
        for (int round = 0; round < 3; ++round) {
            std::string text;
            const auto add = [&](const disguises::Lines& lines) {
                for (const auto& line : lines)
                    text += line + '\n';
            };
            add(format.before);
            for (std::int64_t row = 0, last = below(random, 400); row < last; ++row)
                add(format.row(below(random, 1 + row)).lines);
            add(format.behind);
            if (round == 1) text = disturbed(random, text, 20);
            report::Presentation presentation;
            if (!format.by.empty()) presentation.by = format.by;
            CAPTURE(format.name);
            check_pieces(text, 1, static_cast<std::size_t>(2 + below(random, 16)), presentation);
        }
    }
}

TEST_CASE("what is read in pieces, and what is read again") {
    Random random(104729);
    const auto joined = [&](std::string_view text, std::size_t cut) {
        report::Presentation presentation;
        Reader reader(presentation);
        FormatDetector detector;
        detector.feed(text.substr(0, cut), reader);
        const auto piece = detector.fork();
        if (!piece) return false;
        piece->feed(text.substr(cut), reader);
        return detector.join(*piece, reader);
    };
    const std::string rx =
        "Wed Mar  2 16:01:36 2011 |I| drv-ip: 23 us, ip-tcp: 34 us, tcp-app: 189 us. | Proc a, PID 1\n";
    const std::string tx =
        "Wed Mar  2 16:01:36 2011 |O| app-tcp: 23 us, tcp-ip: 34 us, ip-drv: 189 us. | Proc a, PID 1\n";
    const std::string far =
        "Wed Mar  2 18:01:36 2011 |O| app-tcp: 23 us, tcp-ip: 34 us, ip-drv: 189 us. | Proc a, PID 1\n";
    const auto both = rx + tx + rx;
    CHECK(joined(both + both, both.size()));
    CHECK(joined(both + "noise\n\n" + both, both.size()));
    CHECK_FALSE(joined(both + far + both, both.size()));  // a clock was set
    CHECK_FALSE(joined(rx + far + far, rx.size()));       // how far the clocks are apart is not known before
    CHECK(joined(rx + rx + rx, rx.size()));

    const std::string time = "Tue Nov 17 00:26:51 2020\n", row = "17 packets dropped at icmp_rcv+0x12d/0x400\n";
    CHECK(joined(time + row + time + row, time.size() + row.size()));
    CHECK(joined(time + row + row, time.size() + row.size()));
    CHECK(joined(time + row + row + time + row, time.size() + row.size()));
    FormatDetector detector;
    Reader reader({});
    detector.feed(time + row, reader);
    const auto in_interval = detector.fork(), behind_another = detector.fork();
    in_interval->feed(row + time + row, reader);
    behind_another->feed(row + time + row, reader);
    CHECK(detector.join(*in_interval, reader));
    detector.feed("Tue Nov 17 00:26:56 2020\n" + row, reader);
    CHECK_FALSE(detector.join(*behind_another, reader));  // its first row is not of the interval that it began in
    CHECK(detector.cut(row + time + row + row) == row.size());
    CHECK(detector.cut(time + row + row) == time.size() + 2 * row.size());

    const std::string header = "stapgen\t3\trx\trx\ttime:time\ta:stage\n", record = "rx\t17\t19\n";
    CHECK(joined(header + record + record, header.size()));
    CHECK_FALSE(joined(header + record + header + record, header.size()));
    CHECK_FALSE(joined(header + record + "fields\ty\ta:int\n" + record, header.size()));
    CHECK_FALSE(joined(header + record + rx + record, header.size()));

    const std::string drop =
        "a  1 [003] 5.000001: skb:kfree_skb: skbaddr=0xffff8881 protocol=2048 location=0xffffffff81000000\n";
    CHECK(joined(drop + drop + drop + "\tffffffff8149a8ed kfree_skb+0x6d ([kernel.kallsyms])\n", 2 * drop.size()));
    CHECK_FALSE(joined(drop + drop + "reason: NO_SOCKET\n" + drop, 2 * drop.size()));  // of the record before it
}
