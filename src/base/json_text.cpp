// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/limits.h"

namespace stapgen::base {

namespace {

using Json = nlohmann::json;

/// Goes through a text and keeps nothing of it. Stops at the first limit.
class Counter final : public nlohmann::json_sax<Json> {
  public:
    bool null() override { return value(); }
    bool boolean(bool /*value*/) override { return value(); }
    bool number_integer(number_integer_t /*value*/) override { return value(); }
    bool number_unsigned(number_unsigned_t /*value*/) override { return value(); }
    bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return value(); }
    bool string(string_t& /*value*/) override { return value(); }
    bool binary(binary_t& /*value*/) override { return value(); }
    bool key(string_t& /*value*/) override { return true; }
    bool start_object(std::size_t /*elements*/) override { return begin(); }
    bool start_array(std::size_t /*elements*/) override { return begin(); }
    bool end_object() override { return end(); }
    bool end_array() override { return end(); }
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) override {
        return false;
    }

    [[nodiscard]] bool is_deep() const { return depth_ > limits::json_depth; }
    [[nodiscard]] bool is_large() const { return values_ > limits::json_values; }

  private:
    bool value() {
        ++values_;
        return !is_large();
    }
    bool begin() {
        ++depth_;
        return !is_deep() && value();
    }
    bool end() {
        --depth_;
        return true;
    }

    std::size_t depth_ = 0, values_ = 0;
};

tl::unexpected<Error> over(std::string_view what, std::size_t limit, std::string_view unit) {
    return bad_input(fmt::format("JSON with {} {} {}", what, limit, unit),
                     "the file is damaged or hostile: stapgen writes none like that; omit it");
}

}  // namespace

Result<void> check_json(std::string_view text) {
    if (text.size() > limits::json_bytes) return over("more than", limits::json_bytes, "bytes");
    Counter counter;
    if (Json::sax_parse(text, &counter)) return {};
    if (counter.is_deep()) return over("arrays and objects more than", limits::json_depth, "deep");
    if (counter.is_large()) return over("more than", limits::json_values, "values");
    return {};
}

Result<Json> parse_json(std::string_view text) {
    STAPGEN_TRY(check_json(text));
    return Json::parse(text, nullptr, false);
}

}  // namespace stapgen::base
