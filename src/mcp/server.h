// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// The Model Context Protocol (modelcontextprotocol.io, revision 2025-11-25 and older ones) as far as a server of tools
/// needs it: JSON-RPC 2.0, a message a line.
namespace stapgen::mcp {

using Json = nlohmann::ordered_json;
using Asked = nlohmann::json;  ///< from outside: base/json_text.h

/// One argument of a tool: a text, or a list of texts.
struct Argument {
    std::string name, help;
    bool is_list = false, required = false;
};

/// A tool that a client may call. `call` returns the answer's text; its error is the tool's, which the client sees.
struct Tool {
    std::string name, help;
    std::vector<Argument> arguments;
    std::function<base::Result<std::string>(const Asked& arguments)> call;
    /// What the text is: one JSON document, or one a line, each by one of these files of schemas/; none: plain text.
    std::vector<std::string> documents{};
};

/// A request of more bytes is refused.
inline constexpr std::size_t max_request = 1U << 20U;

class Server {
  public:
    Server(std::string version, std::vector<Tool> tools) : version_(std::move(version)), tools_(std::move(tools)) {}

    /// The answer to a line, without its end; nothing to a notification. Whatever the line is: what is no request is
    /// answered by an error.
    std::optional<std::string> answer(std::string_view line) const;

  private:
    [[nodiscard]] std::optional<std::string> answer_one(const Asked& request) const;
    [[nodiscard]] Json list() const;
    [[nodiscard]] base::Result<Asked> call(const Asked& parameters) const;

    std::string version_;
    std::vector<Tool> tools_;
};

}  // namespace stapgen::mcp
