#include "host/workarounds.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "host/runtime_copy.h"

namespace stapgen::host {

namespace {

/// Reads one table of workarounds.toml; the first thing wrong is kept, with its place.
class Reader {
  public:
    explicit Reader(std::string_view file) : file_(file) {}

    void wrong(const toml::node& where, std::string_view what) {
        if (error_) return;
        const auto begin = where.source().begin;
        error_ =
            base::Error{base::ErrorKind::bad_input, fmt::format("{}:{}:{}: {}", file_, begin.line, begin.column, what),
                        "see the comment at the top of the workarounds.toml that came with stapgen"};
    }

    std::string text(const toml::table& table, std::string_view key, bool required = true) {
        const auto* node = table.get(key);
        if (node == nullptr) {
            if (required) wrong(table, fmt::format("'{}' is missing", key));
            return {};
        }
        const auto value = node->value<std::string>();
        if (!node->is_string() || !value) {
            wrong(*node, fmt::format("'{}' must be a string", key));
            return {};
        }
        return *value;
    }

    template <class Function>
    void each_table(const toml::table& table, std::string_view key, Function function) {
        const auto* node = table.get(key);
        if (node == nullptr) return;
        if (!node->is_array()) return wrong(*node, fmt::format("'{}' must be a list of tables", key));
        for (const auto& item : *node->as_array()) {
            if (!item.is_table()) return wrong(item, fmt::format("'{}' must be a list of tables", key));
            function(*item.as_table());
        }
    }

    void known_keys(const toml::table& table, std::initializer_list<std::string_view> known) {
        for (const auto& [key, node] : table) {
            if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
                wrong(node, fmt::format("unknown key '{}'", key.str()));
            }
        }
    }

    const std::optional<base::Error>& error() const { return error_; }

  private:
    std::string_view file_;
    std::optional<base::Error> error_;
};

Evidence read_evidence(Reader& reader, const toml::table& table) {
    reader.known_keys(table, {"file", "contains", "lacks"});
    Evidence evidence{reader.text(table, "file"), reader.text(table, "contains", false),
                      reader.text(table, "lacks", false)};
    const auto& file = evidence.file;
    if (!file.starts_with("{runtime}/") && !file.starts_with("{build}/") && !file.starts_with("{source}/")) {
        reader.wrong(table, "'file' must begin with {runtime}/, {build}/ or {source}/");
    }
    if (evidence.contains.empty() && evidence.lacks.empty()) {
        reader.wrong(table, "evidence needs 'contains' or 'lacks'");
    }
    return evidence;
}

RuntimePatch read_patch(Reader& reader, const toml::table& table) {
    reader.known_keys(table, {"file", "replace", "with"});
    RuntimePatch patch{reader.text(table, "file"), reader.text(table, "replace"), reader.text(table, "with")};
    const auto file = std::filesystem::path(patch.file).lexically_normal();
    if (file.is_absolute() || file.string().starts_with("..")) {
        reader.wrong(table, "'file' of a patch must lie inside the runtime folder");
    }
    if (patch.replace.empty()) reader.wrong(table, "'replace' must not be empty");
    return patch;
}

Workaround read_workaround(Reader& reader, const toml::table& table) {
    reader.known_keys(table, {"id", "why", "stap_before", "when", "kbuild", "patch"});
    Workaround workaround;
    workaround.id = reader.text(table, "id");
    workaround.why = reader.text(table, "why");
    if (const auto before = reader.text(table, "stap_before", false); !before.empty()) {
        workaround.stap_before = parse_version_number(before);
        if (!workaround.stap_before) reader.wrong(*table.get("stap_before"), "'stap_before' must be like \"5.2\"");
    }
    reader.each_table(table, "when",
                      [&](const toml::table& item) { workaround.when.push_back(read_evidence(reader, item)); });
    reader.each_table(table, "patch",
                      [&](const toml::table& item) { workaround.patches.push_back(read_patch(reader, item)); });
    if (const auto* kbuild = table.get("kbuild"); kbuild != nullptr && !kbuild->is_table()) {
        reader.wrong(*kbuild, "'kbuild' must be a table");
    } else if (kbuild != nullptr) {
        for (const auto& [key, value] : *kbuild->as_table()) {
            workaround.kbuild[std::string(key.str())] = reader.text(*kbuild->as_table(), key.str());
        }
    }
    if (workaround.when.empty()) reader.wrong(table, "a workaround needs evidence: [[workaround.when]]");
    if (workaround.kbuild.empty() && workaround.patches.empty())
        reader.wrong(table, "a workaround needs 'kbuild' or 'patch'");
    return workaround;
}

bool is_there(const Evidence& evidence, const System& system, const Target& target) {
    const auto end = evidence.file.find('}');
    const auto root = evidence.file.substr(1, end - 1);
    const auto& folder = root == "runtime" ? target.runtime : root == "build" ? target.build : target.source;
    if (folder.empty()) return false;
    const auto content = system.read(folder / evidence.file.substr(end + 2));
    return content && (evidence.contains.empty() || content->find(evidence.contains) != std::string::npos) &&
           (evidence.lacks.empty() || content->find(evidence.lacks) == std::string::npos);
}

}  // namespace

base::Result<std::vector<Workaround>> parse_workarounds(std::string_view text, std::string_view name) {
    std::vector<Workaround> workarounds;
    Reader reader(name);
    try {
        const auto document = toml::parse(text, name);
        reader.known_keys(document, {"workaround"});
        std::set<std::string> ids;
        reader.each_table(document, "workaround", [&](const toml::table& table) {
            workarounds.push_back(read_workaround(reader, table));
            if (!ids.insert(workarounds.back().id).second) reader.wrong(table, "this id is there twice");
        });
    } catch (const toml::parse_error& error) {
        const auto begin = error.source().begin;
        return base::bad_input(fmt::format("{}:{}:{}: {}", name, begin.line, begin.column, error.description()),
                               "this is not valid TOML");
    }
    if (reader.error()) return tl::make_unexpected(*reader.error());
    return workarounds;
}

base::Result<std::vector<Workaround>> load_workarounds(const std::filesystem::path& file) {
    return base::read_file(file).and_then(
        [&](const std::string& text) { return parse_workarounds(text, file.string()); });
}

std::vector<Workaround> needed_workarounds(const std::vector<Workaround>& workarounds, const System& system,
                                           const Target& target) {
    std::vector<Workaround> needed;
    for (const auto& workaround : workarounds) {
        if (workaround.stap_before && !(target.stap_version && *target.stap_version < *workaround.stap_before))
            continue;
        if (std::all_of(workaround.when.begin(), workaround.when.end(),
                        [&](const Evidence& evidence) { return is_there(evidence, system, target); })) {
            needed.push_back(workaround);
        }
    }
    return needed;
}

base::Result<AppliedWorkarounds> apply_workarounds(const std::vector<Workaround>& needed,
                                                   const WorkaroundChoice& choice, const Target& target,
                                                   const std::filesystem::path& cache, Making making) {
    AppliedWorkarounds applied;
    std::vector<RuntimePatch> patches;
    for (const auto& workaround : needed) {
        if (choice.leaves_out(workaround.id)) continue;
        for (const auto& [key, value] : workaround.kbuild) {
            auto& flags = applied.kbuild[key];
            flags += (flags.empty() ? "" : " ") + value;
        }
        patches.insert(patches.end(), workaround.patches.begin(), workaround.patches.end());
        applied.lines.push_back(fmt::format("workaround: {}: {}", workaround.id, workaround.why));
    }
    if (!patches.empty()) {
        const auto version = target.stap_version ? target.stap_version->text : "";
        auto copy = patched_runtime(target.runtime, version, patches, cache, making);
        if (!copy) return tl::make_unexpected(copy.error());
        applied.runtime = *copy;
    }
    return applied;
}

}  // namespace stapgen::host
