// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/config.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/limits.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/toml_table.h"

namespace stapgen::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* settings_hint =
    "docs/guide/configuration.md; STAPGEN_CONFIG= before stapgen leaves all settings out";

/// Options that are typed for each run, or needed before any file is read.
bool is_never_set(const OptionSpec& option) {
    const auto name = long_name(option);
    return name == "--guru" || name == "--profile" || name == "--recipe-path" || name == "--help" ||
           name == "--help-all" || name == "--version";
}

void add_names(const CommandSpec& command, std::set<std::string>& names) {
    for (const auto& option : command.options) {
        if (!is_argument(option) && !is_never_set(option)) names.insert(long_name(option).substr(2));
    }
    for (const auto& one : command.commands)
        add_names(one, names);
}

std::set<std::string> names_below(const CommandSpec& command) {
    std::set<std::string> names;
    add_names(command, names);
    return names;
}

/// "fleet run rx-latency" below stapgen itself; null if there is none.
const CommandSpec* command_at(const CommandSpec& root, const std::string& words) {
    const auto* command = &root;
    for (const auto word : base::words(words)) {
        command = command_named(*command, word);
        if (command == nullptr) return nullptr;
    }
    return command;
}

/// A table of settings. `known`: what may be in it.
void apply_table(base::TomlTable table, const std::set<std::string>& known, const CommandSpec& command,
                 const Setter* set) {
    for (const auto& key : table.keys()) {
        const auto values = table.scalars(key);
        if (!known.contains(key)) {
            const auto meant = base::did_you_mean(key, {known.begin(), known.end()});
            table.wrong(key, fmt::format("'{}' is not an option that can be set here", key),
                        meant ? fmt::format("did you mean '{}'?", *meant) : "");
        }
        const auto* option = option_named(command, "--" + key);
        if (option == nullptr || set == nullptr) continue;
        const auto good = (*set)(*option, values);
        if (!good) table.wrong(key, fmt::format("{}: {}", key, good.error().what), good.error().hint);
        if (!*good)
            table.wrong(key, fmt::format("{}: not a value of --{}", key, key),
                        fmt::format("'{} --help' says what it takes", full_name(command)));
    }
}

struct Applied {
    const CommandSpec& root;
    const CommandSpec& command;
    const std::string& profile;
    const Setter& set;
    bool has_profile = false;

    void operator()(base::TomlTable& file) {
        const auto everywhere = names_below(root);
        if (auto profiles = file.table("profile")) {
            for (const auto& name : profiles->keys()) {
                const bool is_chosen = name == profile;
                has_profile = has_profile || is_chosen;
                if (auto table = profiles->table(name))
                    apply_table(*table, everywhere, command, is_chosen ? &set : nullptr);
            }
        }
        if (auto commands = file.table("command")) {
            for (const auto& name : commands->keys()) {
                const auto* of = command_at(root, name);
                if (of == nullptr)
                    commands->wrong(name, fmt::format("there is no command '{}'", name),
                                    "'stapgen --help' lists them; [command.\"fleet report\"] is one of two words");
                if (auto table = commands->table(name))
                    apply_table(*table, names_below(*of), command, of == &command ? &set : nullptr);
            }
        }
        if (auto options = file.table("options")) apply_table(*options, everywhere, command, &set);
        file.refuse_the_rest();
    }
};

}  // namespace

base::Result<std::vector<ConfigFile>> read_config_files() {
    std::vector<fs::path> paths;
    const char* named = std::getenv("STAPGEN_CONFIG");
    if (named != nullptr) {
        if (*named != '\0') paths.emplace_back(named);
    } else {
        if (const auto folder = base::config_directory()) paths.push_back(*folder / "config.toml");
        paths.push_back(fs::path(base::system_config_directory) / "config.toml");
    }
    std::vector<ConfigFile> files;
    for (const auto& path : paths) {
        std::error_code error;
        if (named == nullptr && !fs::exists(path, error)) continue;
        if (const auto trusted = ::geteuid() == 0 ? base::only_root_writes(path) : base::Result<void>(); !trusted) {
            base::print_message(fmt::format("{} is not read: {}", path.string(), trusted.error().what));
            continue;
        }
        auto text = base::read_named(path, base::limits::recipe_bytes);
        if (!text) return base::bad_input(text.error().what, settings_hint);
        files.push_back({path.string(), *std::move(text)});
    }
    return files;
}

base::Result<void> apply_config(const std::vector<ConfigFile>& files, const CommandSpec& root,
                                const CommandSpec& command, const std::string& profile, const Setter& set) {
    Applied applied{root, command, profile, set};
    for (const auto& file : files) {
        const base::TomlFile toml{file.text, file.name, "the file", settings_hint, settings_hint};
        auto done = base::read_toml(toml, [&](base::TomlTable& table) { applied(table); });
        if (!done) return done;
    }
    if (profile.empty() || applied.has_profile) return {};
    return base::bad_input(fmt::format("--profile: there is no [profile.{}]", base::printable(profile)),
                           files.empty() ? "there is no config.toml; docs/guide/configuration.md"
                                         : fmt::format("put it into {}", files.front().name));
}

}  // namespace stapgen::cli
