#include <algorithm>

#include "base/text.h"
#include "doctor/doctor.h"

namespace stapgen::doctor {

const std::vector<MessageChecks>& message_checks() {
    static const std::vector<MessageChecks> table = {
        {"no-headers", "headers"},
        {"no-release", "headers"},
        {"not-permitted", "privileges"},
        {"no-space", "disk"},
        {"symbol-table", "symbol-table"},
        {"kprobe-builder", "symbol-table kernel"},
        {"tracepoint-builder", "kernel-options cures systemtap"},
        {"dwarf-builder", "symbol-table debuginfo"},
        {"no-debuginfo", "debuginfo"},
        {"no-dwarf", "debuginfo symbol-table"},
        {"target-symbol", "debuginfo"},
        {"no-match-similar", "symbol-table kernel"},
        {"no-match", "symbol-table cures kernel systemtap"},
        {"resolving", "symbol-table cures kernel systemtap"},
        {"no-type", "kernel systemtap"},
        {"no-local", "kernel systemtap"},
        {"no-member", "kernel systemtap"},
        {"no-tracepoint-variable", "kernel systemtap"},
        {"no-uprobes", "kernel-options"},
        {"task-work", "cures systemtap"},
        {"runtime-error", "kernel-options cures systemtap"},
        {"compiler-missing", "compiler"},
        {"compiler-error", "compiler cures systemtap"},
        {"module-conflict", "compiler cures systemtap"},
        {"kbuild", "compiler headers cures systemtap disk"},
        {"release-mismatch", "running-kernel"},
        {"version-mismatch", "headers"},
        {"insert-format", "compiler headers"},
        {"insert-symbol", "kernel-options"},
        {"insert-permission", "privileges modules module-signing"},
        {"insert-key", "module-signing"},
        {"insert-no-key", "module-signing"},
        {"insert-exists", "leftovers"},
        {"insert-memory", "memory"},
        {"insert", "privileges modules module-signing"},
        {"cannot-resolve", "cures systemtap"},
        {"signing", "module-signing"},
        {"not-root", "privileges staprun"},
        {"group-only", "privileges"},
        {"build-id", "debuginfo"},
        {"buffer-memory", "memory"},
        {"output", "disk"},
    };
    return table;
}

std::vector<Check> checks_of_message(const std::vector<Check>& checks, std::string_view message) {
    std::vector<Check> found;
    const auto& table = message_checks();
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const MessageChecks& each) { return each.message == message; });
    if (row == table.end()) return found;
    const auto ids = base::words(row->checks);
    const auto named = [&](std::string_view id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
    for (const auto& check : checks) {
        const bool is_workaround = check.workaround == check.id && check.id != "symbol-table";
        if (check.state != State::missing && check.state != State::note) continue;
        if (named(check.id) || (is_workaround && named("cures"))) found.push_back(check);
    }
    return found;
}

}  // namespace stapgen::doctor
