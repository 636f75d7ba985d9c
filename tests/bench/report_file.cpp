// report_file FILE [--parse]: what `stapgen report FILE --format json` does for a recording of ours, and nothing else:
// reads in pieces, parses and analyses in one thread. With --parse the records are only counted.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/analyzer.h"
#include "decode/record_parser.h"
#include "report/json_report.h"

using namespace stapgen;

namespace {

struct Counting : decode::Sink {
    void record(const decode::Record& record) override { sum += record.values[0].number; }
    void line(const decode::Line&) override {}
    std::int64_t sum = 0;
};

struct Analyzing : decode::Sink {
    void record(const decode::Record& record) override { analyzer->add(record); }
    void line(const decode::Line& line) override {
        if (const auto* header = std::get_if<decode::HeaderLine>(&line)) {
            analyzer = analyze::Analyzer::create(*header->header, {.group_by = {"pid", "tid", "comm"}}).value();
        }
        analyzer->add(line);
    }
    std::optional<analyze::Analyzer> analyzer;
};

}  // namespace

int main(int argc, char** argv) {
    const int file = argc > 1 ? ::open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 2;
    Counting counting;
    Analyzing analyzing;
    decode::Sink& sink = argc > 2 ? static_cast<decode::Sink&>(counting) : analyzing;
    decode::RecordParser parser;
    std::vector<char> buffer(std::size_t{1} << 18);
    std::size_t held = 0;
    for (;;) {
        const auto got = ::read(file, buffer.data() + held, buffer.size() - held);
        if (got <= 0) break;
        held += static_cast<std::size_t>(got);
        const std::string_view text(buffer.data(), held);
        const auto taken = parser.take(text.substr(0, text.rfind('\n') + 1), sink);
        held -= taken;
        std::memmove(buffer.data(), buffer.data() + taken, held);
    }
    if (argc > 2) {
        fmt::print("{} {}\n", parser.input().lines, counting.sum);
    } else {
        report::write_json(std::cout, analyzing.analyzer->summary(), {});
    }
}
