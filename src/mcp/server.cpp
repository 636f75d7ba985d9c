// SPDX-License-Identifier: GPL-2.0-or-later
#include "mcp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json_text.h"
#include "base/text.h"

namespace stapgen::mcp {

namespace {

// Of JSON-RPC 2.0.
constexpr int not_json = -32700, no_request = -32600, no_method = -32601, bad_parameters = -32602;

constexpr std::array<std::string_view, 3> revisions{"2025-06-18", "2025-03-26", "2024-11-05"};

std::string error(const Json& id, int code, const std::string& message) {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}}.dump();
}

std::string result(const Json& id, Json value) {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(value)}}.dump();
}

bool is_texts(const Asked& value) {
    return value.is_array() && std::ranges::all_of(value, [](const Asked& one) { return one.is_string(); });
}

/// What is wrong with what a tool is called with; empty: nothing.
std::string fault_of(const Tool& tool, const Asked& arguments) {
    for (const auto& [name, value] : arguments.items()) {
        const auto known = std::ranges::find(tool.arguments, name, &Argument::name);
        if (known == tool.arguments.end())
            return fmt::format("{} has no argument '{}'", tool.name, base::printable(name));
        if (known->is_list ? !is_texts(value) : !value.is_string())
            return fmt::format("'{}' is {}", name, known->is_list ? "a list of strings" : "a string");
    }
    for (const auto& argument : tool.arguments) {
        if (argument.required && !arguments.contains(argument.name))
            return fmt::format("'{}' is missing", argument.name);
    }
    return {};
}

}  // namespace

Json Server::list() const {
    auto all = Json::array();
    for (const auto& tool : tools_) {
        Json properties = Json::object(), required = Json::array();
        for (const auto& argument : tool.arguments) {
            Json type{{"type", argument.is_list ? "array" : "string"}, {"description", argument.help}};
            if (argument.is_list) type["items"] = {{"type", "string"}};
            properties[argument.name] = std::move(type);
            if (argument.required) required.push_back(argument.name);
        }
        all.push_back({{"name", tool.name},
                       {"description", tool.help},
                       {"inputSchema", {{"type", "object"}, {"properties", properties}, {"required", required}}},
                       {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
    }
    return {{"tools", std::move(all)}};
}

base::Result<Json> Server::call(const Asked& parameters) const {
    const auto name = parameters.value("name", Asked());
    const auto tool = std::ranges::find_if(tools_, [&](const Tool& one) { return name == one.name; });
    if (tool == tools_.end()) return base::bad_input("there is no such tool", "tools/list has them");
    const auto arguments = parameters.value("arguments", Asked::object());
    if (!arguments.is_object()) return base::bad_input("'arguments' is not an object", {});
    if (const auto fault = fault_of(*tool, arguments); !fault.empty()) return base::bad_input(fault, {});
    const auto answer = tool->call(arguments);
    auto text = answer ? *answer : answer.error().what;
    if (!answer && !answer.error().hint.empty()) text += "\nhint: " + answer.error().hint;
    return Json{{"content", Json::array({{{"type", "text"}, {"text", std::move(text)}}})}, {"isError", !answer}};
}

std::optional<std::string> Server::answer(std::string_view line) const {
    if (base::trim(line).empty()) return std::nullopt;
    if (line.size() > max_request)
        return error({}, no_request, fmt::format("a request has {} bytes at most", max_request));
    const auto request = base::parse_json(line);
    if (!request) return error({}, not_json, request.error().what);
    if (request->is_discarded()) return error({}, not_json, "not JSON");
    if (!request->is_object()) return error({}, no_request, "expected a request, which is an object");
    const Json id = request->value("id", Asked());
    const auto method = request->value("method", Asked());
    if (!method.is_string()) return error(id, no_request, "'method' is missing");
    // A notification has no answer.
    if (!request->contains("id")) return std::nullopt;
    const auto parameters = request->value("params", Asked::object());
    if (!parameters.is_object()) return error(id, bad_parameters, "'params' is not an object");
    if (method == "initialize") {
        const auto asked = parameters.value("protocolVersion", Asked());
        const auto known = std::ranges::find_if(revisions, [&](auto revision) { return asked == revision; });
        return result(id, {{"protocolVersion", known == revisions.end() ? revisions.front() : *known},
                           {"capabilities", {{"tools", Json::object()}}},
                           {"serverInfo", {{"name", "stapgen"}, {"version", version_}}}});
    }
    if (method == "ping") return result(id, Json::object());
    if (method == "tools/list") return result(id, list());
    if (method != "tools/call") return error(id, no_method, "there is no such method");
    auto called = call(parameters);
    if (!called) return error(id, bad_parameters, called.error().what);
    return result(id, *std::move(called));
}

}  // namespace stapgen::mcp
