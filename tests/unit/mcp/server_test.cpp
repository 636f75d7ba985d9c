// SPDX-License-Identifier: GPL-2.0-or-later
#include "mcp/server.h"

#include <doctest/doctest.h>

#include <string>

using namespace stapgen;
using namespace stapgen::mcp;

namespace {

Server server() {
    return {"1.2",
            {{"echo",
              "Says it again",
              {{"text", "what", false, true}, {"more", "others", true, false}},
              [](const Asked& arguments) -> base::Result<std::string> {
                  if (arguments["text"] == "fail") return base::bad_input("it fails", "do not");
                  return arguments["text"].get<std::string>();
              }},
             {"names",
              "Two documents",
              {},
              [](const Asked&) -> base::Result<std::string> { return "{\"symbol\": \"f17\"}\n{\"symbol\": null}\n"; },
              {"name-1"}}},
            {{"why-is-it",
              "Why is it",
              "Says what to call",
              {{"what", "a word"}, {"needed", "another", false, true}},
              [](const Asked& arguments) -> base::Result<std::string> {
                  if (arguments["needed"] == "fail") return base::bad_input("that is no word", {});
                  return "call echo of " + arguments.value("what", std::string("anything"));
              }}}};
}

Json asked(const std::string& line) {
    const auto answer = server().answer(line);
    REQUIRE(answer);
    CHECK(answer->find('\n') == std::string::npos);
    return Json::parse(*answer);
}

Json called(const std::string& parameters) {
    return asked(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":)" + parameters + "}");
}

}  // namespace

TEST_CASE("it begins with a revision of the protocol that both know") {
    const auto begin = [](const std::string& revision) {
        return asked(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" + revision +
                     R"("}})");
    };
    CHECK(begin("2024-11-05")["result"]["protocolVersion"] == "2024-11-05");
    CHECK(begin("1999-01-01")["result"]["protocolVersion"] == "2025-11-25");
    CHECK(begin("2025-06-18")["result"]["serverInfo"]["version"] == "1.2");
    CHECK(begin("2025-06-18")["id"] == 1);
    CHECK_FALSE(server().answer(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));
    CHECK(asked(R"({"jsonrpc":"2.0","id":"x","method":"ping"})")["result"] == Json::object());
}

TEST_CASE("it lists its tools with the schema of their arguments") {
    const auto tool = asked(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")["result"]["tools"][0];
    CHECK(tool["name"] == "echo");
    CHECK(tool["inputSchema"]["properties"]["text"]["type"] == "string");
    CHECK(tool["inputSchema"]["properties"]["more"]["items"]["type"] == "string");
    CHECK(tool["inputSchema"]["required"] == Json::array({"text"}));
    CHECK(tool["annotations"]["readOnlyHint"] == true);
}

TEST_CASE("a tool's answer, and its error, are for the one who asked") {
    const auto good = called(R"({"name":"echo","arguments":{"text":"a\u001bb"}})");
    CHECK(good["result"]["content"][0]["text"] ==
          "a\x1b"
          "b");
    CHECK(good["result"]["isError"] == false);
    const auto bad = called(R"({"name":"echo","arguments":{"text":"fail"}})");
    CHECK(bad["result"]["isError"] == true);
    CHECK(bad["result"]["content"][0]["text"] == "it fails\nhint: do not");
}

TEST_CASE("an answer of documents is structured, too, by a schema that needs no other") {
    const auto tools = asked(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")["result"]["tools"];
    CHECK_FALSE(tools[0].contains("outputSchema"));
    const auto& schema = tools[1]["outputSchema"];
    CHECK(schema["properties"]["answers"]["items"]["anyOf"][0]["$ref"] == "#/$defs/name-1");
    CHECK(schema["$defs"]["name-1"]["properties"]["address"]["$ref"] == "#/$defs/address");
    CHECK(schema["$defs"].contains("address"));
    CHECK_FALSE(called(R"({"name":"echo","arguments":{"text":"a"}})")["result"].contains("structuredContent"));
    const auto answers = called(R"({"name":"names"})")["result"]["structuredContent"]["answers"];
    REQUIRE(answers.size() == 2);
    CHECK(answers[0]["symbol"] == "f17");
    CHECK(answers[1]["symbol"].is_null());
}

TEST_CASE("a batch has an answer for each request, and a limit") {
    const auto answers = asked(R"([{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","method":"x"},7])");
    REQUIRE(answers.size() == 2);
    CHECK(answers[0]["id"] == 3);
    CHECK(answers[1]["error"]["code"] == -32600);
    CHECK_FALSE(server().answer(R"([{"jsonrpc":"2.0","method":"x"}])"));
    std::string many = "[7";
    for (int count = 1; count < 17; ++count)
        many += ",7";
    CHECK(asked(many + "]")["error"]["code"] == -32600);
}

TEST_CASE("what is no request is an error, whatever it is") {
    for (const auto* const parameters :
         {R"({"name":"other"})", R"({"name":7})", R"({})", R"({"name":"echo","arguments":[]})"}) {
        CAPTURE(parameters);
        CHECK(called(parameters)["error"]["code"] == -32602);
    }
    for (const auto* const parameters : {R"({"name":"echo"})", R"({"name":"echo","arguments":{"text":7}})",
                                         R"({"name":"echo","arguments":{"text":"a","x":"b"}})",
                                         R"({"name":"echo","arguments":{"text":"a","more":"b"}})",
                                         R"({"name":"echo","arguments":{"text":"a","more":[7]}})"}) {
        CAPTURE(parameters);
        CHECK(called(parameters)["result"]["isError"] == true);
    }
    CHECK(asked("nonsense")["error"]["code"] == -32700);
    CHECK(asked("[]")["error"]["code"] == -32600);
    CHECK(asked(R"({"id":1})")["error"]["code"] == -32600);
    CHECK(asked(R"({"id":1,"method":"tools/call","params":[]})")["error"]["code"] == -32602);
    CHECK(asked(R"({"id":1,"method":"resources/list"})")["error"]["code"] == -32601);
    CHECK(asked(std::string(max_request + 1, ' ') + "x")["error"]["code"] == -32600);
    CHECK_FALSE(server().answer("  "));
    CHECK(asked(std::string(10000, '['))["error"].contains("message"));
}

TEST_CASE("prompts are listed with their arguments, and made of what is filled in") {
    CHECK(asked(R"({"jsonrpc":"2.0","id":1,"method":"initialize"})")["result"]["capabilities"].contains("prompts"));
    const auto prompt = asked(R"({"jsonrpc":"2.0","id":1,"method":"prompts/list"})")["result"]["prompts"][0];
    CHECK(prompt["name"] == "why-is-it");
    CHECK(prompt["title"] == "Why is it");
    CHECK(prompt["arguments"][0] == Json({{"name", "what"}, {"description", "a word"}, {"required", false}}));
    CHECK(prompt["arguments"][1]["required"] == true);
    const auto got = [](const std::string& parameters) {
        return asked(R"({"jsonrpc":"2.0","id":1,"method":"prompts/get","params":)" + parameters + "}");
    };
    const auto result = got(R"({"name":"why-is-it","arguments":{"needed":"a","what":"b"}})")["result"];
    CHECK(result["description"] == "Says what to call");
    REQUIRE(result["messages"].size() == 1);
    CHECK(result["messages"][0]["role"] == "user");
    CHECK(result["messages"][0]["content"] == Json({{"text", "call echo of b"}, {"type", "text"}}));
    for (const auto* const wrong :
         {R"({"name":"nothing"})", R"({})", R"({"name":17})", R"({"name":"why-is-it"})",
          R"({"name":"why-is-it","arguments":[]})", R"({"name":"why-is-it","arguments":{"needed":7}})",
          R"({"name":"why-is-it","arguments":{"needed":"a","more":"b"}})",
          R"({"name":"why-is-it","arguments":{"needed":"fail"}})"}) {
        CHECK(got(wrong)["error"]["code"] == -32602);
    }
}
