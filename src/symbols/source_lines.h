// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::symbols {

/// A function that an address lies in, and where in the source: as `addr2line -i -f` has it.
struct SourceFrame {
    std::string function;  ///< empty: unknown
    std::string file;      ///< as the compiler was given it, made relative to the folder of the build where it can be
    int line = 0;          ///< 0: unknown
    bool inlined = false;  ///< into the next frame
};

/// Lines of source from the DWARF of a vmlinux or a module. By libdw.
class SourceLines {
  public:
    /// Errors (bad_input): it cannot be read; it has no DWARF (with the remedy: which package has it).
    static base::Result<SourceLines> open(const std::filesystem::path& path);

    /// The innermost inlined function first, the function that was compiled last; empty if DWARF does not know it.
    /// `address` is as in the file (the KASLR offset taken off), of a module counted from its base in /proc/modules;
    /// and exact: of a return address give the one before. By one thread at a time.
    [[nodiscard]] std::vector<SourceFrame> at(std::uint64_t address) const;

  private:
    struct State;
    explicit SourceLines(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

/// A file of the source as DWARF has it, made relative to what it shares with `build`, the folder the compiler ran in:
/// "net/sched/sch_api.c", wherever the kernel was built, in its source or in a folder below it. Where they share
/// nothing it stays as it is.
std::string source_path(std::string_view file, std::string_view build);

}  // namespace stapgen::symbols
