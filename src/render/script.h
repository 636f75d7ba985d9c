#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recipe/recipe.h"

namespace stapgen::render {

/// The recipe's script with these arguments (checked and completed here). Pure: `script_template` is the text
/// of script.stp. An interval of 0 leaves the lines that close intervals out, but where it is to aggregate: then they
/// come each second, and the header says that nobody asked for reports of them. `filters`: whether it is to heed those
/// that it can.
base::Result<std::string> render_script(const recipe::Recipe& recipe, std::string_view script_template,
                                        const recipe::Arguments& arguments, std::chrono::milliseconds interval,
                                        bool aggregate = false, bool filters = true);

/// Fills a mustache template with the delimiters <% and %>. Values are put in as they are: the caller has
/// escaped them. A section <%#name%> ... <%/name%> is kept unless its value is empty, "0" or "false". A name
/// that is not in `values` is an error with file, line and column: `file` is only for that message.
base::Result<std::string> fill_template(std::string_view text, const std::map<std::string, std::string>& values,
                                        std::string_view file);

/// For stap's -D: the recipe's macros, and the sizes of the tables that its records are aggregated in.
std::vector<std::string> macros_of(const recipe::Recipe& recipe);

}  // namespace stapgen::render
