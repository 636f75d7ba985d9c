#include "decode/remarks.h"

#include <array>

#include "base/text.h"

namespace stapgen::decode {

namespace {

constexpr std::array systemtap_beginnings{std::string_view("WARNING: "),
                                          std::string_view("ERROR: "),
                                          std::string_view("Number of errors: "),
                                          std::string_view("semantic error: "),
                                          std::string_view("parse error: "),
                                          std::string_view("Try again with another '--vp "),
                                          std::string_view("Tip: "),
                                          std::string_view("Checking \""),
                                          std::string_view("Missing separate debuginfos, use: "),
                                          std::string_view("Keeping temporary directory "),
                                          std::string_view("Executing: ")};

constexpr std::array other_beginnings{std::string_view("# tracer: "),
                                      std::string_view("# entries-in-buffer/entries-written: "),
                                      std::string_view("# latency: "),
                                      std::string_view("# -----"),
                                      std::string_view("#  "),
                                      std::string_view("# ========"),
                                      std::string_view("[ perf record: "),
                                      std::string_view("Check IO/CPU overload!"),
                                      std::string_view("stapgen: ")};

bool is_pass(std::string_view line) {
    return line.size() > 7 && line.starts_with("Pass ") && line[5] >= '1' && line[5] <= '5' && line[6] == ':';
}

/// The headings of ftrace above its columns, with or without the '#' before them.
bool is_column_heading(std::string_view line) {
    const bool is_drawing = line.find_first_not_of(" |/\\#") == std::string_view::npos && line.find('|') != line.npos;
    return is_drawing || line.find("--=> ") != line.npos || line.find(" latency trace v1.") != line.npos ||
           (line.find("TASK-PID") != line.npos && line.find("TIMESTAMP  FUNCTION") != line.npos);
}

}  // namespace

Remark remark(std::string_view line) {
    if (is_pass(line) || base::starts_with_any(line, systemtap_beginnings)) return Remark::systemtap;
    const bool is_perf_heading = line.starts_with("# ") && line.find(" : ") != std::string_view::npos;
    if (is_perf_heading || is_column_heading(line) || line == "#" || base::starts_with_any(line, other_beginnings))
        return Remark::other;
    return Remark::none;
}

}  // namespace stapgen::decode
