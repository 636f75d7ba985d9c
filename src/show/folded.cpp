// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "base/saturate.h"
#include "base/terminal.h"
#include "show/model/format.h"
#include "show/model/texts.h"

namespace stapgen::show {

namespace {

/// A frame's name must not end it, or the line.
std::string folded_name(std::string name) {
    std::ranges::replace(name, ';', ':');
    return name;
}

/// "entry_SYSCALL_64_after_hwframe;...;nf_hook_slow;NETFILTER_DROP".
std::string folded_path(const table::Path& frames, const table::Reason& reason) {
    std::string path;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
        path += folded_name(function_text(*frame)) + ';';
    const auto why = reason_or_empty(reason);
    return path + (why.empty() ? "drop" : folded_name(why));
}

void write_folded(std::ostream& out, const Reports& reports, const Options& options) {
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const auto results = reports.results(i, options);
        for (const auto& stack : results.of<rows::Stack>())
            base::add_saturating(counts[folded_path(*stack.frames, stack.reason)], stack.count);
    }
    for (const auto& [path, count] : counts)
        out << path << ' ' << count << '\n';
    if (counts.empty()) base::print_message("no call paths in it: dropwatch --stacks records them");
}

}  // namespace

/// A line for each call path, what flame graphs are drawn from: its functions with ';' between, the outermost first,
/// then the reason of the drop, a blank and how many packets.
extern constexpr Format folded_format{.name = "folded", .write = write_folded};

}  // namespace stapgen::show
