#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "recipe/recipe.h"

namespace stapgen::recipe {

/// What the user typed, by parameter name.
using Arguments = std::map<std::string, std::string>;

/// Type and range; the error names the parameter as an option.
base::Result<void> check_value(const Parameter& parameter, std::string_view value);

/// What is put into a template for a value that check_value() takes: a whole number in decimal without leading zeros, a
/// duration as ns, any other as it is.
std::string template_value(const Parameter& parameter, const std::string& value);

/// All parameters of the recipe with their values, defaults where none was given. Fails on a name or a value
/// that the recipe does not allow.
base::Result<Arguments> complete_arguments(const Recipe& recipe, const Arguments& given);

}  // namespace stapgen::recipe
