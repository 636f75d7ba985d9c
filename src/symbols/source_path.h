#pragma once

#include <string>
#include <string_view>

namespace stapgen::symbols {

/// A file of the source as DWARF has it, made relative to what it shares with `build`, the folder the compiler ran in:
/// "net/sched/sch_api.c", wherever the kernel was built, in its source or in a folder below it. Where they share
/// nothing it stays as it is.
std::string source_path(std::string_view file, std::string_view build);

}  // namespace stapgen::symbols
