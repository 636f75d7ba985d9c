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
/// and prompts needs it: JSON-RPC 2.0, a message a line.
namespace stapgen::mcp {

using Json = nlohmann::ordered_json;
using Asked = nlohmann::json;  ///< from outside: base/json_text.h

/// One argument of a tool or a prompt: a text, or a list of texts.
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

/// A text that a client gives to its model: which tools to call, and what to look at. `text` makes it of what the
/// client fills in; its error is the protocol's. No argument is a list.
struct Prompt {
    std::string name, title, help;
    std::vector<Argument> arguments;
    std::function<base::Result<std::string>(const Asked& arguments)> text;
};

/// A request of more bytes is refused.
inline constexpr std::size_t max_request = 1U << 20U;

class Server {
  public:
    Server(std::string version, std::vector<Tool> tools, std::vector<Prompt> prompts)
        : version_(std::move(version)), tools_(std::move(tools)), prompts_(std::move(prompts)) {}

    /// The answer to a line, without its end; nothing to a notification. Whatever the line is: what is no request is
    /// answered by an error.
    std::optional<std::string> answer(std::string_view line) const;

  private:
    [[nodiscard]] std::optional<std::string> answer_one(const Asked& request) const;
    [[nodiscard]] Json list() const;
    [[nodiscard]] base::Result<Asked> call(const Asked& parameters) const;
    [[nodiscard]] Json list_prompts() const;
    [[nodiscard]] base::Result<Asked> prompt(const Asked& parameters) const;

    std::string version_;
    std::vector<Tool> tools_;
    std::vector<Prompt> prompts_;
};

}  // namespace stapgen::mcp
