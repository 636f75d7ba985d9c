// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ostream>

#include "base/terminal.h"
#include "between/result.h"

namespace stapgen::between {

void write_text(std::ostream& out, const Answer& answer, const base::Screen& screen = {});
/// "stapgen.between/1".
void write_json(std::ostream& out, const Answer& answer);
void write_csv(std::ostream& out, const Answer& answer);

}  // namespace stapgen::between
