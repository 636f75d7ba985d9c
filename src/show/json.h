// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "show/model/format.h"

/// What is written as JSON, and what is derived from it. Documents of rows are in show/document.h.
namespace stapgen::show {

using Json = nlohmann::ordered_json;

/// Writes it with a line end, in one line where `indent` is -1. All of it is ASCII, for a name with a C1 control
/// character would command a terminal; what is no UTF-8 is U+FFFD.
void put_json(std::ostream& out, const Json& json, int indent);

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// An object in one line for each record. Keys are the names of its fields, of times and durations with "_ns".
std::unique_ptr<RecordWriter> event_lines(std::ostream& out, const Options& options);

Json group_json(const table::Group& group);
void put_place(Json& object, const table::Place& place);
/// `unit`: the suffix of its keys.
void put_distribution(Json& object, const table::Histogram& stats, const std::string& unit,
                      const std::vector<table::Percentile>& percentiles);

}  // namespace stapgen::show
