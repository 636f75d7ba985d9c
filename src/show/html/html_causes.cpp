// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/html/html_sections.h"
#include "show/model/layout.h"

namespace stapgen::show::html {

Section causes_section(const rows::Results& results) {
    Section section{"causes", "What packets waited for"};
    const auto& causes = results.of<rows::CauseOfWait>();
    if (!causes.empty())
        section.tables.push_back(
            laid_out(causes, "What takes 5 % of the time or of the tail, the most important first"));
    return section;
}

}  // namespace stapgen::show::html
