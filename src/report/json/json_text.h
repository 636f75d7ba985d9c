#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>

namespace stapgen::report {

/// Writes it with a line end, in one line where `indent` is -1. All of it is ASCII, for a name with a C1 control
/// character would command a terminal; what is no UTF-8 is U+FFFD.
void put_json(std::ostream& out, const nlohmann::ordered_json& json, int indent);

template <class T, class Json = nlohmann::ordered_json>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace stapgen::report
