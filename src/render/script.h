// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recipe/recipe.h"

namespace stapgen::render {

/// How a script is made of its template.
struct ScriptForm {
    bool aggregate = false;
    bool filters = true;            ///< it heeds those that it can
    bool numbered = false;          ///< for source_lines()
    std::vector<std::string> by{};  ///< of Recipe::by: fields that records have besides
    bool keep = false;              ///< records of the seconds that have passed; it aggregates then
};

/// The recipe's script with these arguments (checked and completed here). Pure: `script_template` is the text
/// of script.stp. An interval of 0 leaves the lines that close intervals out, but where it is to aggregate: then they
/// come each second, and the header says that nobody asked for reports of them.
base::Result<std::string> render_script(const recipe::Recipe& recipe, std::string_view script_template,
                                        const recipe::Arguments& arguments, std::chrono::milliseconds interval,
                                        const ScriptForm& form = {});

/// For each line of a script the line of the template that it comes from, both from 1 on. `numbered`: the script as
/// rendered with ScriptForm::numbered.
std::vector<std::size_t> source_lines(std::string_view numbered);

/// Fills a mustache template with the delimiters <% and %>. Values are put in as they are: the caller has
/// escaped them. A section <%#name%> ... <%/name%> is kept unless its value is empty, "0" or "false". A name
/// that is not in `values` is an error with file, line and column: `file` is only for that message. `numbered` as in
/// ScriptForm.
base::Result<std::string> fill_template(std::string_view text, const std::map<std::string, std::string>& values,
                                        std::string_view file, bool numbered = false);

/// For stap's -D: the recipe's macros, whether its records have parts, and the sizes of the tables that they are
/// aggregated in.
/// `keep`: the bytes of memory for records that are kept.
std::vector<std::string> macros_of(const recipe::Recipe& recipe, const recipe::Arguments& arguments,
                                   std::uint64_t keep = 0);

}  // namespace stapgen::render
