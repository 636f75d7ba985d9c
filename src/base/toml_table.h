// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::base {

/// One table of a TOML file. Every key that is asked for is noted, so that what is left over can be refused. What is
/// not as it must be ends the reading: see read_toml().
class TomlTable {
  public:
    struct Source;
    explicit TomlTable(std::shared_ptr<Source> source) : source_(std::move(source)) {}

    [[nodiscard]] bool has(const std::string& key) const;
    [[nodiscard]] std::vector<std::string> keys() const;
    /// It must be there.
    std::string text(const std::string& key);
    std::string text_or(const std::string& key, std::string fallback = {});
    std::vector<std::string> texts(const std::string& key);  ///< none if it is not there
    double number(const std::string& key);                   ///< 0 or more; 0 if it is not there
    std::optional<std::int64_t> integer(const std::string& key);
    bool flag(const std::string& key);                          ///< false if it is not there
    std::optional<std::string> scalar(const std::string& key);  ///< as the user would type it
    std::vector<std::string> scalars(const std::string& key);   ///< the same of a list; of anything else, of it alone
    std::optional<TomlTable> table(const std::string& key);
    std::vector<TomlTable> tables(const std::string& key);  ///< none if they are not there

    /// Something is wrong with the value of this key, or with the table if it has no such key.
    [[noreturn]] void wrong(const std::string& key, std::string what, std::string hint = {}) const;
    void refuse_the_rest() const;

  private:
    std::shared_ptr<Source> source_;
};

/// A file of TOML, for messages about it.
struct TomlFile {
    std::string_view text, name;
    std::string_view title;               ///< of its outermost table: "the recipe"
    std::string_view hint, hint_of_toml;  ///< where what is wrong has no hint of its own; where it is no TOML
};

/// Hands the outermost table to `read`. Errors (bad_input), with line and column: it is no TOML; the first thing that
/// `read` finds wrong.
Result<void> read_toml(const TomlFile& file, const std::function<void(TomlTable& table)>& read);

}  // namespace stapgen::base
