// SPDX-License-Identifier: GPL-2.0-or-later
// redraw_bench [RECORDS [GROUPS]]: what one redraw of the live view costs after so many records of so many groups (else
// 1000003 and 1009), in milliseconds of the processor.

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>

#include "analyze/analyzer.h"
#include "analyze/results.h"
#include "decode/record_parser.h"
#include "live/frame.h"

using namespace stapgen;

namespace {

double processor_ms() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

template <class Function>
void tell(const char* what, int times, Function function) {
    const auto begin = processor_ms();
    for (int i = 0; i < times; ++i)
        function();
    fmt::print("{:40} {:9.3f} ms\n", what, (processor_ms() - begin) / times);
}

/// The same each time; spread as latencies are, over some four powers of ten.
class Latencies {
  public:
    std::int64_t next(double middle_ns) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        const auto part = static_cast<double>(state_ >> 11U) / 9007199254740992.0;
        return static_cast<std::int64_t>(middle_ns * std::pow(10, 4 * part * part * part - 0.5));
    }

  private:
    std::uint64_t state_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
    const long records = argc > 1 ? std::atol(argv[1]) : 1'000'003;
    const long groups = argc > 2 ? std::atol(argv[2]) : 1009;
    decode::RecordParser parser;
    parser.feed(
        "stapgen\t3\tbench\trx\ttime:time\tpid:int\tcomm:text\tdrv-ip:stage\tip-tcp:stage\ttcp-app:stage\ttotal:stage");
    auto analyzer = *analyze::Analyzer::create(*parser.header(), {.group_by = {"pid", "comm"}, .keep_intervals = true});
    analyzer.add(parser.feed("ready\t1795208062142199779\t1000"));
    Latencies latencies;
    tell("all records", 1, [&] {
        for (long i = 0; i < records; ++i) {
            const auto a = latencies.next(4'000), b = latencies.next(6'000), c = latencies.next(90'000);
            analyzer.add(parser.feed(fmt::format("rx\t{}\t{}\tworker-{}\t{}\t{}\t{}\t{}", 1000 + i * 300'000,
                                                 i % groups, i % groups, a, b, c, a + b + c)));
        }
    });
    live::Scene scene;
    scene.title = "bench";
    const live::Size size{60, 200};
    tell("measured", 20, [&] { (void)analyzer.measured(); });
    tell("results", 20, [&] { scene.shown = analyze::results_of(analyzer.measured()); });
    tell("accounting", 20, [&] { (void)analyzer.accounting(); });
    live::State state;
    tell("frame, sorted by n", 20, [&] { live::frame(scene, state, size, true); });
    state.order = live::Order::p99;
    tell("frame, sorted by p99", 20, [&] { live::frame(scene, state, size, true); });
    tell("tick, which closes an interval", 1, [&] {
        analyzer.add(decode::Line(decode::Tick{1795208362142199779, {}}));
    });
}
