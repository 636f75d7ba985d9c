// report_file [FILE]: what `stapgen report FILE --format json` does, of the first measurement in FILE or the standard
// input, and nothing else: reads in pieces, in one thread.

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/analyzer.h"
#include "decode/recogniser.h"
#include "report/json_report.h"

using namespace stapgen;

namespace {

struct Analyzing : decode::Recogniser::Sink {
    void record(Source&, const decode::Record& record) override { analyzer->add(record); }
    void line(Source& source, const decode::Line& line) override {
        if (!analyzer) {
            std::vector<std::string> keys;
            for (const char* key : {"pid", "tid", "comm"}) {
                if (source.header->schemas.front().find(key)) keys.emplace_back(key);
            }
            analyzer = analyze::Analyzer::create(*source.header, {.group_by = std::move(keys)}).value();
        }
        analyzer->add(line);
    }
    void message(std::string_view) override {}
    std::optional<analyze::Analyzer> analyzer;
};

}  // namespace

int main(int argc, char** argv) {
    const int file = argc > 1 ? ::open(argv[1], O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (file < 0) return 2;
    Analyzing sink;
    decode::Recogniser recogniser;
    std::vector<char> buffer(std::size_t{1} << 18);
    std::size_t held = 0;
    for (;;) {
        const auto got = ::read(file, buffer.data() + held, buffer.size() - held);
        if (got <= 0) break;
        held += static_cast<std::size_t>(got);
        const std::string_view text(buffer.data(), held);
        const auto whole = text.rfind('\n') + 1;
        recogniser.feed(text.substr(0, whole), sink);
        held -= whole;
        std::memmove(buffer.data(), buffer.data() + whole, held);
    }
    recogniser.finish({buffer.data(), held}, sink);
    if (!sink.analyzer) return 2;
    auto summary = sink.analyzer->summary();
    summary.input = recogniser.input();
    report::write_json(std::cout, summary, {});
}
