// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/query.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.h"
#include "base/json_text.h"
#include "base/terminal.h"
#include "base/text.h"
#include "show/json.h"
#include "show/model/texts.h"
#include "show/text/sections.h"
#include "store/tables.h"

namespace stapgen::store {

namespace {

namespace fs = std::filesystem;
using Kind = Answer::Column::Kind;
using Json = nlohmann::ordered_json;

/// The view of a table's files; without any, an empty table of the same columns.
std::string view_of(const Table& table, const fs::path& store) {
    std::error_code error;
    const auto name = sql_name(table.name);
    if (!fs::is_directory(store / table.name, error))
        return fmt::format("CREATE TABLE {} ({}, recipe VARCHAR, day DATE)", name, table.columns);
    // Names of recipes are no numbers. Events have the columns of their recipes, other rows those of their stapgen.
    return fmt::format(
        "CREATE VIEW {} AS SELECT * FROM read_parquet({}, hive_partitioning = true, hive_types = {{'recipe': VARCHAR, "
        "'day': DATE}}, union_by_name = {})",
        name, sql_text((store / table.name / "*/*/*.parquet").string()), table.differs);
}

base::Result<void> prepare(Database& database, const fs::path& store, const recipe::ProgramFiles& files) {
    STAPGEN_LET(const auto views, base::read_file(files.sql / "views.sql"));
    std::vector<std::string> statements{
        // Its files can be read from here on, and nothing else, whatever is asked.
        fmt::format("SET allowed_directories = [{}]", sql_text(store.string())), "SET enable_external_access = false"};
    for (const auto& table : tables())
        statements.push_back(view_of(table, store));
    statements.push_back(view_of(events_table, store));
    statements.push_back(views);
    statements.emplace_back("SET lock_configuration = true");
    for (const auto& statement : statements) {
        if (auto done = database.run(statement); !done) return done;
    }
    return {};
}

Json json_of(const std::optional<std::string>& cell, Kind kind) {
    if (!cell) return nullptr;
    if (kind == Kind::text) return *cell;
    const auto parsed = base::parse_json(*cell);
    return !parsed || parsed->is_discarded() ? Json(nullptr) : Json(*parsed);  // nan, inf
}

Json object_of(const Answer& answer, const std::vector<std::optional<std::string>>& row) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
        object[answer.columns[i].name] = json_of(row[i], answer.columns[i].kind);
    return object;
}

void write_json(std::ostream& out, const Answer& answer) {
    Json document{{"schema", "stapgen.query/1"}, {"rows", Json::array()}};
    for (const auto& row : answer.rows)
        document["rows"].push_back(object_of(answer, row));
    show::put_json(out, document, 2);
}

void write_csv(std::ostream& out, const Answer& answer) {
    const char* separator = "";
    for (const auto& column : answer.columns)
        out << std::exchange(separator, ",") << show::csv_cell(column.name);
    out << '\n';
    for (const auto& row : answer.rows) {
        separator = "";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool is_text = answer.columns[i].kind == Kind::text;
            out << std::exchange(separator, ",")
                << (is_text ? show::csv_cell(row[i].value_or("")) : row[i].value_or(""));
        }
        out << '\n';
    }
}

void write_table(std::ostream& out, const Answer& answer) {
    show::Table table{"", {}};
    for (const auto& column : answer.columns)
        table.columns.push_back({column.name, column.kind == Kind::number ? show::Kind::number : show::Kind::text});
    for (const auto& row : answer.rows) {
        auto& cells = table.rows.emplace_back();
        for (const auto& cell : row)
            cells.push_back({cell.value_or("-")});
    }
    out << show::text_of(table, base::screen_of(STDOUT_FILENO));
}

}  // namespace

base::Result<std::string> question(const recipe::ProgramFiles& files, const std::string& name) {
    return base::read_file(files.sql / (name + ".sql"));
}

base::Result<Answer> query(const fs::path& store, const std::string& sql, const recipe::ProgramFiles& files) {
    std::error_code error;
    const auto folder = fs::canonical(store, error);
    if (error || !fs::is_directory(folder / runs_table, error)) {
        return base::bad_input(fmt::format("{} is not a store", base::printable(store.string())),
                               "'stapgen export FILES --parquet DIR' creates one");
    }
    STAPGEN_LET(const auto temporary, base::PrivateDirectory::create());
    STAPGEN_LET(auto database, Database::open(files.duckdb, temporary.path()));
    STAPGEN_TRY(prepare(database, folder, files));
    return database.ask(sql);
}

void write_answer(std::ostream& out, const Answer& answer, std::string_view format) {
    if (format == "json") return write_json(out, answer);
    if (format == "csv") return write_csv(out, answer);
    if (format == "table") return write_table(out, answer);
    for (const auto& row : answer.rows)
        show::put_json(out, object_of(answer, row), -1);
}

}  // namespace stapgen::store
