// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>
#include <string_view>

#include "base/text.h"
#include "fuzz.h"
#include "launch/line_splitter.h"
#include "launch/messages.h"

namespace {

using namespace stapgen;

/// The lines that bytes are cut into, handed over in pieces of `step`.
std::string lines_of(std::string_view bytes, std::size_t step) {
    constexpr std::size_t limit = 128;
    std::string lines;
    launch::LineSplitter splitter(
        [&](std::string_view line, bool cut) {
            fuzz::always(line.size() <= limit && line.find('\n') == std::string_view::npos);
            lines.append(line).append(cut ? "|cut\n" : "\n");
        },
        limit);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size())))
        splitter.feed(bytes.substr(0, step));
    splitter.finish();
    return lines;
}

void check_line(std::string_view line) {
    for (const auto& row : launch::message_table()) {
        const auto stars = launch::match(row.pattern, line);
        if (!stars) continue;
        for (const auto star : *stars)
            fuzz::always(star.data() >= line.data() && star.data() + star.size() <= line.data() + line.size());
    }
    if (const auto pass = launch::parse_pass_line(line)) {
        fuzz::always(pass->pass >= 1 && pass->pass <= 5 && pass->real.count() >= 0);
        fuzz::always(!launch::pass_name(pass->pass).empty());
    }
    if (const auto diagnosis = launch::diagnose(line)) {
        fuzz::always(!diagnosis->id.empty());
        fuzz::always(diagnosis->kind != launch::MessageKind::failure || !diagnosis->remedy.empty());
        fuzz::always(diagnosis->cause == base::printable(diagnosis->cause));
    }
}

}  // namespace

/// What stap and staprun print.
FUZZ_TARGET(stap_messages) {
    const auto text = fuzz::text_of(data, size);
    fuzz::always(lines_of(text, 7) == lines_of(text, size));
    launch::MessageReader reader({"6.1.0", "linux-headers-6.1.0", ""});
    for (const auto line : base::split(text, '\n')) {
        check_line(line);
        reader.line(line);
    }
    fuzz::always(reader.pass() >= 1 && reader.pass() <= 5);
    const auto& losses = reader.losses();
    fuzz::always(losses.errors >= 0 && losses.skipped_probes >= 0 && losses.transport_failures >= 0);
    fuzz::always(losses.lost_messages >= 0 && losses.lost_bytes >= 0);
    if (reader.cause() != nullptr) fuzz::always(!reader.diagnoses().empty());
    return 0;
}
