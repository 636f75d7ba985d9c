// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "show/model/format.h"

/// What is written as JSON, and what is derived from it.
namespace stapgen::show {

/// Writes it with a line end, in one line where `indent` is -1. All of it is ASCII, for a name with a C1 control
/// character would command a terminal; what is no UTF-8 is U+FFFD.
void put_json(std::ostream& out, const nlohmann::ordered_json& json, int indent);

template <class T, class Json = nlohmann::ordered_json>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// An object in one line for each record. Keys are the names of its fields, of times and durations with "_ns".
std::unique_ptr<RecordWriter> event_lines(std::ostream& out, const Options& options);

nlohmann::ordered_json group_json(const table::Group& group);
nlohmann::ordered_json origins_json(const rows::Results& results);

/// Schema "stapgen.compare/1", a document, or several in one of "stapgen.compares/1", and a line end. Keys are never
/// renamed; durations are in ns, changes are parts (0.05 is 5 %). What is not known is null. See
/// docs/reference/formats.md for the keys.
void write_comparisons_json(std::ostream& out, std::span<const Compared> all, const Options& options);
/// The same, of each a line for the whole and then one for each change.
void write_comparisons_ndjson(std::ostream& out, std::span<const Compared> all, const Options& options);
/// The changes: a line of names, which are the keys of JSON behind those of the groups, then a line for each. RFC 4180,
/// but for the line ends.
void write_comparisons_csv(std::ostream& out, std::span<const Compared> all, const Options& options);

}  // namespace stapgen::show
