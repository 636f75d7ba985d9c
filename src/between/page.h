// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ostream>

#include "between/result.h"
#include "show/html/html_page.h"

namespace stapgen::between {

/// A part for each result: the answer, bars of where the time is, the slowest requests on one axis, and tables.
show::html::Page page_of(const Answer& answer);
void write_html(std::ostream& out, const Answer& answer);

}  // namespace stapgen::between
