// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "render/standalone.h"

namespace stapgen::render {

/// One definition of a tapset file, or one probe, or a piece of C at the top level. What a "%( ... %)" has at the top
/// level is one part, and a probe if there is one in it.
struct Part {
    enum class Kind { macro, global, definition, probe, c };
    Kind kind = Kind::definition;
    const TapsetFile* file = nullptr;
    std::vector<std::string> names;  ///< what it defines
    std::string text;                ///< with the comment right above it
    std::string code;                ///< without comments
    int paragraph = 0;               ///< of the file: between its empty lines
};

/// In the order in which they stand there.
std::vector<Part> parts_of(const TapsetFile& file);

/// Words that begin with "stapgen".
std::set<std::string> our_names(std::string_view text);

/// Text without what follows "//" in its lines.
std::string without_comments(std::string_view text);

/// The parts that a script uses, directly or through each other: what they name, and with anything of a file (but for
/// macros) its probes, as stap does it.
std::vector<Part> used_by(std::string_view script, const std::vector<TapsetFile>& files);

/// The files of C that these parts include, each behind those that it includes itself.
std::vector<const TapsetFile*> included_by(const std::vector<Part>& parts, const std::vector<TapsetFile>& files);

}  // namespace stapgen::render
