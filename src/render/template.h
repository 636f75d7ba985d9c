#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::render {

/// Fills a mustache template with the delimiters <% and %>. Values are put in as they are: the caller has
/// escaped them. A section <%#name%> ... <%/name%> is kept unless its value is empty, "0" or "false". A name
/// that is not in `values` is an error with file, line and column: `file` is only for that message.
base::Result<std::string> fill_template(std::string_view text, const std::map<std::string, std::string>& values,
                                        std::string_view file);

}  // namespace stapgen::render
