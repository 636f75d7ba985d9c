#include "decode/remarks.h"

#include <array>

#include "base/text.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view systemtap_beginnings[]{"WARNING: ",
                                                  "ERROR: ",
                                                  "Number of errors: ",
                                                  "semantic error: ",
                                                  "parse error: ",
                                                  "Try again with another '--vp ",
                                                  "Tip: ",
                                                  "Checking \"",
                                                  "Missing separate debuginfos, use: ",
                                                  "Keeping temporary directory ",
                                                  "Executing: "};

constexpr std::string_view other_beginnings[]{"# tracer: ",
                                              "# entries-in-buffer/entries-written: ",
                                              "# latency: ",
                                              "# -----",
                                              "#  ",
                                              "# ========",
                                              "[ perf record: ",
                                              "Check IO/CPU overload!",
                                              "stapgen: "};

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
