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
                                      std::string_view("#  "),
                                      std::string_view("# ========"),
                                      std::string_view("[ perf record: "),
                                      std::string_view("Check IO/CPU overload!"),
                                      std::string_view("stapgen: ")};

bool is_pass(std::string_view line) {
    return line.size() > 7 && line.starts_with("Pass ") && line[5] >= '1' && line[5] <= '5' && line[6] == ':';
}

}  // namespace

Remark remark(std::string_view line) {
    if (is_pass(line) || base::starts_with_any(line, systemtap_beginnings)) return Remark::systemtap;
    const bool is_perf_heading = line.starts_with("# ") && line.find(" : ") != std::string_view::npos;
    if (is_perf_heading || line == "#" || base::starts_with_any(line, other_beginnings)) return Remark::other;
    return Remark::none;
}

}  // namespace stapgen::decode
