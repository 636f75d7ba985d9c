// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// DuckDB, which reads and writes Parquet. Its library is loaded where it is there: nothing else of stapgen needs it.
namespace stapgen::store {

/// Ns since 1970, as a column of the type TIMESTAMPTZ has it: in microseconds.
struct Moment {
    std::int64_t epoch_ns = 0;
};

struct Answer {
    struct Column {
        std::string name;
        enum class Kind { text, number, boolean } kind = Kind::text;
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::optional<std::string>>> rows;  ///< as DuckDB prints them; nothing: NULL
};

/// A database in memory, and a connection to it. It fetches no extensions and does not use the network.
class Database {
  public:
    /// Of $STAPGEN_DUCKDB, `library`, or the system's libduckdb.so. What does not fit into memory goes to `temporary`.
    /// Error (cannot_here): none can be loaded, or as root another user could change it.
    static base::Result<Database> open(const std::filesystem::path& library, const std::filesystem::path& temporary);
    Database(Database&&) noexcept;
    Database& operator=(Database&&) = delete;
    ~Database();

    /// Statements whose answer is of no interest.
    base::Result<void> run(const std::string& sql);
    /// Error (bad_input): it is no SELECT, several statements, or wrong.
    base::Result<Answer> ask(const std::string& sql);

    /// Adds rows to a table. The first error is kept for close().
    class Appender {
      public:
        Appender(Database& database, const std::string& table);
        Appender(Appender&& other) noexcept;
        Appender& operator=(Appender&&) = delete;
        ~Appender();

        template <class... Values>
        void row(const Values&... values) {
            (put(values), ...);
            end_row();
        }
        void put(std::int64_t value);
        void put(std::uint64_t value);
        void put(double value);
        void put(bool value);
        void put(std::string_view text);  ///< as base::printable() has it
        void put(const char* text) { put(std::string_view(text)); }
        void put(const std::string& text) { put(std::string_view(text)); }
        void put(Moment moment);
        void put(std::nullopt_t null);
        template <class T>
        void put(const std::optional<T>& value) {
            value ? put(*value) : put(std::nullopt);
        }
        void end_row();
        /// What was added is in the table then.
        base::Result<void> close();

      private:
        void check(int state);

        const Database* database_;
        void* appender_ = nullptr;
        std::string error_;
    };

  private:
    struct State;
    explicit Database(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// 'it''s'
std::string sql_text(std::string_view text);
/// "my ""name"""
std::string sql_name(std::string_view name);

}  // namespace stapgen::store
