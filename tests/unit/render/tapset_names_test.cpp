// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <regex>

#include "base/files.h"
#include "base/text.h"
#include "recipe/catalog.h"

using namespace stapgen;

namespace {

/// The lines of a SystemTap file without their comments, and without what is C.
std::vector<std::string> code_of(const std::filesystem::path& path) {
    auto text = base::read_file(path).value();
    for (auto begin = text.find("%{"); begin != std::string::npos; begin = text.find("%{", begin)) {
        const auto end = text.find("%}", begin);
        REQUIRE(end != std::string::npos);
        text.erase(begin, end + 2 - begin);
    }
    std::vector<std::string> lines;
    for (const auto line : base::split(text, '\n'))
        lines.emplace_back(line.substr(0, line.find("//")));
    return lines;
}

struct Definition {
    std::string kind;  ///< global, function or probe
    std::vector<std::string> names;
};

/// What a line defines: "global a%[8], b = 1", "function f:long(x)", "probe alias = ...".
std::optional<Definition> definition_in(const std::string& line) {
    static const std::regex definition("^(global|function|probe) +([a-z0-9_.]+)"), more(", *([a-z0-9_]+)");
    std::smatch match;
    if (!std::regex_search(line, match, definition)) return std::nullopt;
    if (match[1] == "probe" && line.find(" = ") == std::string::npos) return std::nullopt;
    Definition found{match[1], {match[2]}};
    if (found.kind == "global") {
        for (std::sregex_iterator name(line.begin(), line.end(), more), end; name != end; ++name)
            found.names.push_back((*name)[1]);
    }
    return found;
}

std::vector<std::filesystem::path> tapset_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SOURCE_DIR "/tapsets"))
        if (entry.is_regular_file() && entry.path().extension() != ".h") files.push_back(entry.path());
    return files;
}

}  // namespace

TEST_CASE("no name is defined by two files of the tapset: SystemTap would take them for one without a word") {
    std::map<std::string, std::string> defined;
    for (const auto& path : tapset_files()) {
        // What --debuginfo chooses is one file or another of the same definitions.
        if (path.parent_path().filename() != "tapsets") continue;
        const auto file = path.filename().string();
        for (const auto& line : code_of(path)) {
            const auto definition = definition_in(line);
            if (!definition) continue;
            for (const auto& name : definition->names) {
                CAPTURE(name);
                const auto [first, is_new] = defined.emplace(name, file);
                CHECK_MESSAGE((is_new || first->second == file), first->second, " and ", file);
            }
        }
    }
    CHECK(defined.size() > 101);
}

TEST_CASE("no global of a script has the name of a local of the tapset, which would be the global to SystemTap") {
    const std::regex word("[a-z_][a-z0-9_]*");
    std::map<std::string, std::string> used;
    for (const auto& path : tapset_files()) {
        for (const auto& line : code_of(path)) {
            for (std::sregex_iterator name(line.begin(), line.end(), word), end; name != end; ++name)
                used.emplace(name->str(), path.filename().string());
        }
    }
    std::size_t globals = 0;
    for (const std::string folder : {"/templates", "/skeleton"}) {
        for (const auto& recipe : std::filesystem::directory_iterator(SOURCE_DIR + folder)) {
            if (!std::filesystem::exists(recipe.path() / "script.stp")) continue;
            for (const auto& line : code_of(recipe.path() / "script.stp")) {
                const auto definition = definition_in(line);
                if (!definition || definition->kind != "global") continue;
                for (const auto& name : definition->names) {
                    CAPTURE(recipe.path());
                    CAPTURE(name);
                    CHECK_MESSAGE(!used.contains(name), "is in ", used[name]);
                    ++globals;
                }
            }
        }
    }
    CHECK(globals > 31);
}
