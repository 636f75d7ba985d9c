// SPDX-License-Identifier: GPL-2.0-or-later
// write_formats FORMAT: two reports, the second of another recipe.
#include <iostream>
#include <vector>

#include "full_summary.h"
#include "unit/show/written.h"

int main(int, char** argv) {
    using namespace stapgen;
    std::vector<summaries::Summary> reports{full_summary(), full_summary()};
    reports[1].recipe = "-other\\ \"recipe\"";
    show::format_named(argv[1]).write(std::cout, reports_of(reports), {});
}
