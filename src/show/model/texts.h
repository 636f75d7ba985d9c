// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "study/sentences.h"
#include "table/texts.h"

namespace stapgen::show {

using study::changed_stages, study::blocks_text, study::change_percent, study::share_text, study::p_text,
    study::statistic;
using table::Style, table::duration_text, table::per_second_text, table::percent, table::utc_time, table::local_time,
    table::local_time_of_day, table::seconds_text, table::end_text, table::csv_cell, table::find_field,
    table::group_text, table::place_text, table::function_text, table::path_text, table::reason_text,
    table::reason_or_empty;

}  // namespace stapgen::show
