// SPDX-License-Identifier: GPL-2.0-or-later
#include "mcp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/json_text.h"
#include "base/text.h"

namespace stapgen::mcp {

/// Of schemas/, by the files' names.
extern const std::map<std::string_view, std::string_view> schemas;

namespace {

// Of JSON-RPC 2.0.
constexpr int not_json = -32700, no_request = -32600, no_method = -32601, bad_parameters = -32602;

constexpr std::array<std::string_view, 4> revisions{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

std::string error(const Json& id, int code, const std::string& message) {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}}.dump();
}

std::string result(const Json& id, const auto& value) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id.dump(), value.dump());
}

/// The schema NAME, whose references are to definitions that it brings along, its own in `definitions`.
Json schema_of(const std::string& name, Json& definitions) {
    constexpr std::string_view of_a_file = ".json#/";
    auto text = std::string(schemas.at(name));
    for (auto at = text.find(of_a_file); at != text.npos; at = text.find(of_a_file)) {
        const auto quote = text.rfind('"', at);
        text.erase(quote + 1, at + of_a_file.size() - 2 - quote - 1);
    }
    auto schema = Json::parse(text);
    if (const auto own = schema.find("$defs"); own != schema.end()) definitions.update(*own);
    schema.erase("$defs");
    schema.erase("$schema");
    return schema;
}

/// A client takes objects only, and a text may be several documents: {"answers": [document, ...]}.
Json output_schema(const std::vector<std::string>& documents) {
    Json definitions = Json::object(), items = Json::array();
    schema_of("common", definitions);
    for (const auto& name : documents) {
        auto schema = schema_of(name, definitions);
        definitions[name] = std::move(schema);
        items.push_back({{"$ref", "#/$defs/" + name}});
    }
    return {{"type", "object"},
            {"properties", {{"answers", {{"type", "array"}, {"items", {{"anyOf", std::move(items)}}}}}}},
            {"required", {"answers"}},
            {"$defs", std::move(definitions)}};
}

/// No ordered object: base/json_text.h.
Asked structured(std::string_view text) {
    auto answers = Asked::array();
    if (auto whole = Asked::parse(text, nullptr, false); !whole.is_discarded()) {
        answers.push_back(std::move(whole));
    } else {
        for (const auto line : base::split(text, '\n'))
            if (!line.empty()) answers.push_back(Asked::parse(line));
    }
    return {{"answers", std::move(answers)}};
}

Asked answered(std::string text, bool is_error) {
    return {{"content", Asked::array({{{"type", "text"}, {"text", std::move(text)}}})}, {"isError", is_error}};
}

bool is_texts(const Asked& value) {
    return value.is_array() && std::ranges::all_of(value, [](const Asked& one) { return one.is_string(); });
}

/// What is wrong with what a tool or a prompt is given; empty: nothing.
std::string fault_of(const auto& asked, const Asked& arguments) {
    for (const auto& [name, value] : arguments.items()) {
        const auto known = std::ranges::find(asked.arguments, name, &Argument::name);
        if (known == asked.arguments.end())
            return fmt::format("{} has no argument '{}'", asked.name, base::printable(name));
        if (known->is_list ? !is_texts(value) : !value.is_string())
            return fmt::format("'{}' is {}", name, known->is_list ? "a list of strings" : "a string");
    }
    for (const auto& argument : asked.arguments) {
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
        if (!tool.documents.empty()) all.back()["outputSchema"] = output_schema(tool.documents);
    }
    return {{"tools", std::move(all)}};
}

base::Result<Asked> Server::call(const Asked& parameters) const {
    const auto name = parameters.value("name", Asked());
    const auto tool = std::ranges::find_if(tools_, [&](const Tool& one) { return name == one.name; });
    if (tool == tools_.end()) return base::bad_input("there is no such tool", "tools/list has them");
    const auto arguments = parameters.value("arguments", Asked::object());
    if (!arguments.is_object()) return base::bad_input("'arguments' is not an object", {});
    // Not the protocol's error: a model that sees it asks better.
    if (auto fault = fault_of(*tool, arguments); !fault.empty()) return answered(std::move(fault), true);
    auto answer = tool->call(arguments);
    if (!answer) {
        const auto& error = answer.error();
        return answered(error.hint.empty() ? error.what : fmt::format("{}\nhint: {}", error.what, error.hint), true);
    }
    auto structure = tool->documents.empty() ? Asked() : structured(*answer);
    auto result = answered(*std::move(answer), false);
    if (!structure.is_null()) result["structuredContent"] = std::move(structure);
    return result;
}

Json Server::list_prompts() const {
    auto all = Json::array();
    for (const auto& prompt : prompts_) {
        auto arguments = Json::array();
        for (const auto& argument : prompt.arguments) {
            arguments.push_back(
                {{"name", argument.name}, {"description", argument.help}, {"required", argument.required}});
        }
        all.push_back({{"name", prompt.name},
                       {"title", prompt.title},
                       {"description", prompt.help},
                       {"arguments", std::move(arguments)}});
    }
    return {{"prompts", std::move(all)}};
}

base::Result<Asked> Server::prompt(const Asked& parameters) const {
    const auto name = parameters.value("name", Asked());
    const auto prompt = std::ranges::find_if(prompts_, [&](const Prompt& one) { return name == one.name; });
    if (prompt == prompts_.end()) return base::bad_input("there is no such prompt", "prompts/list has them");
    const auto arguments = parameters.value("arguments", Asked::object());
    if (!arguments.is_object()) return base::bad_input("'arguments' is not an object", {});
    if (const auto fault = fault_of(*prompt, arguments); !fault.empty()) return base::bad_input(fault, {});
    STAPGEN_LET(auto text, prompt->text(arguments));
    return Asked{
        {"description", prompt->help},
        {"messages", Asked::array({{{"role", "user"}, {"content", {{"type", "text"}, {"text", std::move(text)}}}}})}};
}

std::optional<std::string> Server::answer(std::string_view line) const {
    if (base::trim(line).empty()) return std::nullopt;
    if (line.size() > max_request)
        return error({}, no_request, fmt::format("a request has {} bytes at most", max_request));
    const auto request = base::parse_json(line);
    if (!request) return error({}, not_json, request.error().what);
    if (request->is_discarded()) return error({}, not_json, "not JSON");
    if (!request->is_array() || request->empty()) return answer_one(*request);
    // A batch, which revision 2025-03-26 has.
    constexpr std::size_t most = 16;
    if (request->size() > most) return error({}, no_request, fmt::format("a batch has {} requests at most", most));
    std::string answers;
    for (const auto& one : *request) {
        if (const auto answer = answer_one(one)) answers.append(answers.empty() ? "[" : ",").append(*answer);
    }
    if (answers.empty()) return std::nullopt;
    return answers + "]";
}

std::optional<std::string> Server::answer_one(const Asked& request) const {
    if (!request.is_object()) return error({}, no_request, "expected a request, which is an object");
    const Json id = request.value("id", Asked());
    const auto method = request.value("method", Asked());
    if (!method.is_string()) return error(id, no_request, "'method' is missing");
    // A notification has no answer.
    if (!request.contains("id")) return std::nullopt;
    const auto parameters = request.value("params", Asked::object());
    if (!parameters.is_object()) return error(id, bad_parameters, "'params' is not an object");
    if (method == "initialize") {
        const auto asked = parameters.value("protocolVersion", Asked());
        const auto known = std::ranges::find_if(revisions, [&](auto revision) { return asked == revision; });
        return result(id, Json{{"protocolVersion", known == revisions.end() ? revisions.front() : *known},
                               {"capabilities", {{"tools", Json::object()}, {"prompts", Json::object()}}},
                               {"serverInfo", {{"name", "stapgen"}, {"version", version_}}}});
    }
    if (method == "ping") return result(id, Json::object());
    if (method == "tools/list") return result(id, list());
    if (method == "prompts/list") return result(id, list_prompts());
    if (method == "prompts/get") {
        const auto prompted = prompt(parameters);
        return prompted ? result(id, *prompted) : error(id, bad_parameters, prompted.error().what);
    }
    if (method != "tools/call") return error(id, no_method, "there is no such method");
    const auto called = call(parameters);
    return called ? result(id, *called) : error(id, bad_parameters, called.error().what);
}

}  // namespace stapgen::mcp
