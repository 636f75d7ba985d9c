#include "report/json/json_text.h"

#include <nlohmann/json.hpp>

namespace stapgen::report {

void put_json(std::ostream& out, const nlohmann::ordered_json& json, int indent) {
    out << json.dump(indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace stapgen::report
