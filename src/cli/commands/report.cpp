#include <iostream>

#include "cli/commands/commands.h"
#include "cli/options/plans.h"
#include "report/presentation.h"
#include "session/meanings.h"
#include "session/replay.h"

namespace stapgen::cli {

base::Result<void> report(const recipe::Program& program, const Options& options) {
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    const auto names = sources_of(options.names);
    if (!names) return tl::make_unexpected(names.error());
    auto reports = session::load({options.words.begin(), options.words.end()}, *presentation, *names);
    if (!reports) return tl::make_unexpected(reports.error());
    for (auto& summary : *reports)
        session::put_meanings(summary, program.catalog);
    report::present(std::cout, *reports, *presentation);
    return {};
}

}  // namespace stapgen::cli
