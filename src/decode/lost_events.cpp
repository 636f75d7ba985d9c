#include <array>

#include "decode/kernel_event.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

/// What stands before and behind the number.
struct LossText {
    std::string_view before, behind;
};

constexpr std::array loss_texts{LossText{" events and lost ", " chunks!"},  // perf record, perf script
                                LossText{"LOST ", " events!"},              // perf trace
                                LossText{"Possibly lost ", " samples"},     // bcc
                                LossText{"Lost ", " events"},               // bpftrace
                                LossText{"Perf event ring buffer full, dropped ", " samples"},  // pwru up to 0.0.9
                                LossText{"due to BPF recursion misses\" total=", ""},           // pwru since 1.0.12
                                LossText{"due to BPF recursion misses total=", ""}};

/// ftrace and trace-cmd.
std::optional<std::int64_t> lost_by_buffer(std::string_view line) {
    std::int64_t number = 0;
    Scan scan{line};
    if (scan.skip("CPU:") && !scan.count(number)) return std::nullopt;
    scan.blanks();
    if (!scan.skip("[")) return std::nullopt;
    number = 1;
    const bool before = scan.skip("LOST ");
    if (scan.count(number) && !scan.skip(" ")) return std::nullopt;
    return scan.rest == (before ? "EVENTS]" : "EVENTS DROPPED]") ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> lost_events(std::string_view line) {
    for (const auto& [before, behind] : loss_texts) {
        const auto at = line.find(before);
        if (at == std::string_view::npos) continue;
        std::int64_t number = 0;
        Scan scan{line.substr(at + before.size())};
        if (scan.count(number) && scan.skip(behind)) return number;
    }
    return lost_by_buffer(line);
}

}  // namespace stapgen::decode
