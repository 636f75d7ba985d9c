// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "base/saturate.h"
#include "base/terminal.h"
#include "report/model/report.h"

namespace stapgen::report {

namespace {

/// A frame's name must not end it, or the line.
std::string folded_name(std::string name) {
    std::ranges::replace(name, ';', ':');
    return name;
}

/// "entry_SYSCALL_64_after_hwframe;...;nf_hook_slow;NETFILTER_DROP".
std::string folded_path(const analyze::Stack& stack) {
    std::string path;
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame)
        path += folded_name(function_text(*frame)) + ';';
    return path + (stack.reason.name || stack.reason.number >= 0 ? folded_name(reason_text(stack.reason)) : "drop");
}

void write_folded(std::ostream& out, std::span<const analyze::Summary> reports, const Options& /*options*/) {
    std::map<std::string, std::int64_t> counts;
    for (const auto& report : reports) {
        for (const auto& stack : report.stacks)
            base::add_saturating(counts[folded_path(stack)], stack.count);
    }
    for (const auto& [path, count] : counts)
        out << path << ' ' << count << '\n';
    if (counts.empty()) base::print_message("no call paths in it: dropwatch --stacks records them");
}

}  // namespace

/// A line for each call path, what flame graphs are drawn from: its functions with ';' between, the outermost first,
/// then the reason of the drop, a blank and how many packets.
extern constexpr Format folded_format{.name = "folded", .write = write_folded};

}  // namespace stapgen::report
