#include "session/losses.h"

#include <unistd.h>

#include <algorithm>

#include "launch/stap_command.h"

namespace stapgen::session {

analyze::Transport transport_of(const launch::Losses& losses) {
    analyze::Transport transport{losses.skipped_probes, losses.errors,
                                 losses.transport_failures + losses.lost_messages};
    for (const auto& [function, count] : losses.missed)
        transport.skipped_by.push_back({function, count});
    return transport;
}

std::int64_t enough_buffer_mb(const host::System& machine, const launch::Losses& losses,
                              std::optional<std::int64_t> asked_mb, const analyze::Summary& summary,
                              std::int64_t bytes) {
    if (losses.transport_failures == 0) return 0;
    launch::Overflow overflow;
    overflow.buffer_mb = losses.buffer_mb > 0 ? losses.buffer_mb : asked_mb.value_or(0);
    // One failure is a record or more; where records are counts, what is missing of them is no number of records.
    const auto lost = std::ranges::find(summary.accounting.lost, "transport", &analyze::Cause::name);
    overflow.lost_records = losses.transport_failures;
    if (!summary.counts() && lost != summary.accounting.lost.end()) {
        overflow.lost_records = std::max(overflow.lost_records, lost->count);
    }
    overflow.bytes_each =
        static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(summary.input.lines, 1));
    overflow.max_mb = launch::max_buffer_mb(machine, ::sysconf(_SC_NPROCESSORS_ONLN));
    return launch::buffer_to_hold(overflow).value_or(0);
}

}  // namespace stapgen::session
