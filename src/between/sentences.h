// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "between/result.h"
#include "show/model/table.h"

/// What text and page say of a result. Empty: nothing.
namespace stapgen::between {

/// "app1 and db1".
std::string hosts_text(const Result& result);
/// "7.26 s: 503 requests at both ends; 10.9.0.1 asks 10.9.0.2:5432".
std::string found_text(const Result& result);
/// Where one place has half of the time, of all requests or of the slow ones.
std::string answer_text(const Result& result);

std::string where_text(const Part& part, const Result& result);
/// By Part::where, for pages.
std::size_t colour_of(std::string_view where);
show::Table parts_table(const Result& result);
/// What the column SLOW of that table is.
std::string slow_text(const Result& result);

/// What is not measured where the client's end is a capture.
std::string capture_text(const Result& result);
/// What each host did for most of its part.
std::string inside_text(const Result& result);
/// What the server asked others for its requests, and what is left of its time.
std::string behind_text(const Result& result);
/// Its questions that are not known to be for one of its requests.
std::string not_placed_text(const Result& result);
/// "app1 asks web1: 52 ms; in that web1 asked db1 twice: 40 ms (38 ms at db1, 2 ms between)". Empty: nothing is known.
std::string chain_text(const Request& request, const Result& result);
std::string resent_text(const Result& result);
std::string ways_text(const Result& result);
std::string clocks_text(const Result& result);
/// How those were joined whose numbers a box changes.
std::string matched_text(const Result& result);

struct NotJoined {
    std::int64_t count = 0;
    std::string cause;
};
std::vector<NotJoined> not_joined(const Result& result);
std::string not_joined_text(const Result& result);
std::string not_measured_text(const Result& result);
/// Of a host none of whose requests another one has: what that may be.
std::string not_found_text(const std::vector<Host>& hosts, const Host& client);

/// "-": not known.
show::Cell time_cell(const std::optional<std::int64_t>& ns);

}  // namespace stapgen::between
