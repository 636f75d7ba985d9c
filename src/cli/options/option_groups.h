#pragma once

/// The headings under which options stand, in help and manual.
namespace stapgen::cli::groups {

inline constexpr const char* filters = "Filters";
inline constexpr const char* time = "Time";
inline constexpr const char* output = "Output";
inline constexpr const char* more_output = "More output";
inline constexpr const char* names = "Names of addresses";
inline constexpr const char* compiling = "Compiling";
inline constexpr const char* running = "Running";
inline constexpr const char* general = "General";

/// Of subcommands.
inline constexpr const char* recipes = "Recipes";

/// Neither in help nor in the manual.
inline constexpr const char* hidden = "";

}  // namespace stapgen::cli::groups
