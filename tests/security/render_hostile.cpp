// SPDX-License-Identifier: GPL-2.0-or-later
// Values made to break out of a script, put into one by stapgen's own rendering: a line of JSON for each, with what
// became of it. check_injection.py gives the scripts to stap.
// usage: render_hostile SEED COUNT

#include <fmt/format.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "launch/masked_bytes.h"
#include "recipe/recipe.h"
#include "render/script.h"

using namespace stapgen;
using recipe::ParameterType;

namespace {

/// What ends something in SystemTap, C, a shell, a template or a terminal, and what is told apart by a hair.
constexpr std::array<std::string_view, 44> pieces{"\"",
                                                  "\\",
                                                  "\\\\",
                                                  "\\\"",
                                                  "\n",
                                                  "\r",
                                                  "\t",
                                                  std::string_view("\0", 1),
                                                  "//",
                                                  "/*",
                                                  "*/",
                                                  "#",
                                                  "%{",
                                                  "%}",
                                                  "%(",
                                                  "%)",
                                                  "<%",
                                                  "%>",
                                                  "<%#t%>",
                                                  "{{",
                                                  "}}",
                                                  "}",
                                                  "{",
                                                  ")",
                                                  "(",
                                                  ";",
                                                  ",",
                                                  "$",
                                                  "@1",
                                                  "$(id)",
                                                  "`id`",
                                                  "\x1b[2J",
                                                  "\xff",
                                                  "\xc2\x9b",
                                                  "\xe2",
                                                  "-",
                                                  "0x",
                                                  "9",
                                                  "e",
                                                  "_",
                                                  "tcp_v4",
                                                  "*",
                                                  "probe end { system(\"id\") }",
                                                  "\") } probe begin { system(\"id\") } //"};

std::string hostile(std::mt19937_64& dice) {
    std::string value;
    for (auto left = 1 + dice() % 6; left > 0; --left) {
        if (dice() % 4 == 0) {
            value += static_cast<char>(dice() % 256);
        } else {
            value += pieces[dice() % pieces.size()];
        }
    }
    return value;
}

/// Numbers with something behind or before them, and plain ones.
std::string hostile_number(std::mt19937_64& dice, std::string_view unit) {
    auto value = fmt::format("{}{}", static_cast<std::int64_t>(dice() % 20011) - 7, unit);
    if (dice() % 3 == 0) return value;
    return dice() % 2 == 0 ? value + hostile(dice) : hostile(dice) + value;
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

struct Kind {
    const char* name;
    ParameterType type;
    const char* script;  ///< a template with the parameter v
    const char* default_value;
};

constexpr std::array<Kind, 4> kinds{{
    {"text", ParameterType::text, "probe begin { println(\"<%v%>\") }\n", ""},
    {"integer", ParameterType::integer, "probe begin { println(<%v%>) }\n", "1"},
    {"duration", ParameterType::duration, "probe begin { println(<%v%>) }\n", "1s"},
    {"functions", ParameterType::functions, "probe kprobe.function(\"{<%v%>}\").call ? { println(1) }\n", "tcp_v4_rcv"},
}};

nlohmann::json line_of(const Kind& kind, const std::string& value) {
    recipe::Recipe one;
    one.name = "hostile";
    one.parameters = {{.name = "v", .type = kind.type, .default_value = kind.default_value}};
    nlohmann::json line{{"kind", kind.name}, {"value", hex(value)}};
    if (const auto script = render::render_script(one, kind.script, {{"v", value}}, {})) line["script"] = *script;
    if (kind.type == ParameterType::duration && line.contains("script"))
        line["ns"] = recipe::template_value(one.parameters.front(), value);
    return line;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::mt19937_64 dice(std::stoull(argv[1]));
    for (auto left = std::stoull(argv[2]); left > 0; --left) {
        for (const auto& kind : kinds) {
            const bool is_duration = kind.type == ParameterType::duration;
            const bool is_number = kind.type == ParameterType::integer || is_duration;
            const auto value = is_number ? hostile_number(dice, is_duration ? "us" : "") : hostile(dice);
            std::cout << line_of(kind, value).dump() << '\n';
        }
        // A thread's name gets into no script: the module is given numbers.
        const auto name = hostile(dice);
        std::cout << nlohmann::json{{"kind", "comm"},
                                    {"value", hex(name)},
                                    {"globals", launch::masked_name(name).globals("comm")}}
                         .dump()
                  << '\n';
    }
}
