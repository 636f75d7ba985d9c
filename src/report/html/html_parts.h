#pragma once

#include <string_view>

/// The files in html/ and uPlot's, as they are compiled in: see html_parts.cpp.in.
namespace stapgen::report::html::parts {

extern const std::string_view page;   ///< mustache
extern const std::string_view table;  ///< mustache, a partial of `page`
extern const std::string_view css;
extern const std::string_view script;
extern const std::string_view uplot_css;
extern const std::string_view uplot_script;
extern const std::string_view uplot_licence;

}  // namespace stapgen::report::html::parts
