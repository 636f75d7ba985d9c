// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/duckdb.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::store {

namespace {

namespace fs = std::filesystem;

// The functions that are called here, as DuckDB's documentation of its C API has them.
constexpr int success = 0;
struct Result {
    std::uint64_t unused[3];
    void *also_unused[2], *data;
};
/// Text of up to 12 bytes is within.
struct Text {
    std::uint64_t words[2];
};
struct Api {
    const char* (*library_version)();
    int (*create_config)(void** config);
    int (*set_config)(void* config, const char* name, const char* value);
    void (*destroy_config)(void** config);
    int (*open_ext)(const char* path, void** database, void* config, char** error);
    void (*close)(void** database);
    int (*connect)(void* database, void** connection);
    void (*disconnect)(void** connection);
    void (*free)(void* memory);
    int (*query)(void* connection, const char* sql, Result* result);
    const char* (*result_error)(Result* result);
    void (*destroy_result)(Result* result);
    int (*prepare)(void* connection, const char* sql, void** statement);
    const char* (*prepare_error)(void* statement);
    std::uint64_t (*prepared_statement_column_count)(void* statement);
    const char* (*prepared_statement_column_name)(void* statement, std::uint64_t column);
    int (*prepared_statement_column_type)(void* statement, std::uint64_t column);
    void (*destroy_prepare)(void** statement);
    void* (*fetch_chunk)(Result result);
    std::uint64_t (*data_chunk_get_size)(void* chunk);
    void* (*data_chunk_get_vector)(void* chunk, std::uint64_t column);
    void (*destroy_data_chunk)(void** chunk);
    void* (*vector_get_data)(void* vector);
    std::uint64_t* (*vector_get_validity)(void* vector);
    const char* (*string_t_data)(Text* text);
    std::uint32_t (*string_t_length)(Text text);
    int (*appender_create)(void* connection, const char* schema, const char* table, void** appender);
    void* (*appender_error_data)(void* appender);
    const char* (*error_data_message)(void* error);
    void (*destroy_error_data)(void** error);
    int (*appender_end_row)(void* appender);
    int (*appender_close)(void* appender);
    int (*appender_destroy)(void** appender);
    int (*append_int64)(void* appender, std::int64_t value);
    int (*append_uint64)(void* appender, std::uint64_t value);
    int (*append_double)(void* appender, double value);
    int (*append_bool)(void* appender, bool value);
    int (*append_varchar_length)(void* appender, const char* text, std::uint64_t length);
    int (*append_timestamp)(void* appender, std::int64_t microseconds);
    int (*append_null)(void* appender);
};

/// All of them, or the name of one that the library does not have.
std::string find_functions(void* library, Api& api) {
    std::string missing;
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
        if (function == nullptr) missing = name;
    };
    find(api.library_version, "duckdb_library_version");
    find(api.create_config, "duckdb_create_config");
    find(api.set_config, "duckdb_set_config");
    find(api.destroy_config, "duckdb_destroy_config");
    find(api.open_ext, "duckdb_open_ext");
    find(api.close, "duckdb_close");
    find(api.connect, "duckdb_connect");
    find(api.disconnect, "duckdb_disconnect");
    find(api.free, "duckdb_free");
    find(api.query, "duckdb_query");
    find(api.result_error, "duckdb_result_error");
    find(api.destroy_result, "duckdb_destroy_result");
    find(api.prepare, "duckdb_prepare");
    find(api.prepare_error, "duckdb_prepare_error");
    find(api.prepared_statement_column_count, "duckdb_prepared_statement_column_count");
    find(api.prepared_statement_column_name, "duckdb_prepared_statement_column_name");
    find(api.prepared_statement_column_type, "duckdb_prepared_statement_column_type");
    find(api.destroy_prepare, "duckdb_destroy_prepare");
    find(api.fetch_chunk, "duckdb_fetch_chunk");
    find(api.data_chunk_get_size, "duckdb_data_chunk_get_size");
    find(api.data_chunk_get_vector, "duckdb_data_chunk_get_vector");
    find(api.destroy_data_chunk, "duckdb_destroy_data_chunk");
    find(api.vector_get_data, "duckdb_vector_get_data");
    find(api.vector_get_validity, "duckdb_vector_get_validity");
    find(api.string_t_data, "duckdb_string_t_data");
    find(api.string_t_length, "duckdb_string_t_length");
    find(api.appender_create, "duckdb_appender_create");
    find(api.appender_error_data, "duckdb_appender_error_data");
    find(api.error_data_message, "duckdb_error_data_message");
    find(api.destroy_error_data, "duckdb_destroy_error_data");
    find(api.appender_end_row, "duckdb_appender_end_row");
    find(api.appender_close, "duckdb_appender_close");
    find(api.appender_destroy, "duckdb_appender_destroy");
    find(api.append_int64, "duckdb_append_int64");
    find(api.append_uint64, "duckdb_append_uint64");
    find(api.append_double, "duckdb_append_double");
    find(api.append_bool, "duckdb_append_bool");
    find(api.append_varchar_length, "duckdb_append_varchar_length");
    find(api.append_timestamp, "duckdb_append_timestamp");
    find(api.append_null, "duckdb_append_null");
    return missing;
}

Answer::Column::Kind kind_of(int type) {
    using Kind = Answer::Column::Kind;
    constexpr int boolean = 1, tinyint = 2, real = 11, hugeint = 16, decimal = 19, uhugeint = 32;
    if (type == boolean) return Kind::boolean;
    const bool is_number = (type >= tinyint && type <= real) || type == hugeint || type == decimal || type == uhugeint;
    return is_number ? Kind::number : Kind::text;
}

/// What DuckDB says of an error, line by line: there is SQL in it.
std::string shown(const char* error) {
    std::string text;
    for (const auto line : base::split(error == nullptr ? "unknown" : error, '\n'))
        text += (text.empty() ? "" : "\n") + base::printable(line);
    return text;
}

base::Result<Api> load(const fs::path& library) {
    std::error_code error;
    const char* const named = std::getenv("STAPGEN_DUCKDB");
    const bool is_named = named != nullptr && *named != '\0';
    const fs::path path = is_named ? named : fs::exists(library, error) ? library : "libduckdb.so";
    // Who can change ours can change the program.
    if (is_named && ::geteuid() == 0 && fs::exists(path, error)) {
        if (const auto safe = base::only_root_writes(path); !safe) {
            return base::cannot_here(
                fmt::format("STAPGEN_DUCKDB: {} is not loaded: {}", base::printable(named), safe.error().what),
                "move it to a folder that only root may write");
        }
    }
    // Never unloaded: it has threads of its own.
    void* const code = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (code == nullptr && ::getauxval(AT_BASE) == 0) {
        return base::cannot_here("a statically linked program cannot load DuckDB's library",
                                 "use an installed stapgen; docs/guide/installing.md");
    }
    if (code == nullptr) {
        return base::cannot_here(fmt::format("DuckDB's library cannot be loaded: {}", base::printable(::dlerror())),
                                 fmt::format("'{}' fetches it by npm, 24 MB; or install the distribution's libduckdb; "
                                             "or set STAPGEN_DUCKDB to the file",
                                             (library.parent_path() / "fetch-duckdb").string()));
    }
    Api api{};
    if (const auto missing = find_functions(code, api); !missing.empty()) {
        return base::cannot_here(fmt::format("{} has no {}", path.string(), missing), "DuckDB 1.4 or later is needed");
    }
    return api;
}

}  // namespace

struct Database::State {
    Api api{};
    void* database = nullptr;
    void* connection = nullptr;

    explicit State(const Api& of) : api(of) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        if (connection != nullptr) api.disconnect(&connection);
        if (database != nullptr) api.close(&database);
    }

    base::Result<void> query(const std::string& sql, Result& result) const {
        if (api.query(connection, sql.c_str(), &result) == success) return {};
        return base::failed("DuckDB: " + shown(api.result_error(&result)));
    }
    [[nodiscard]] base::Result<std::vector<Answer::Column>> columns_of(const std::string& sql) const;
    void put_rows(Result& result, Answer& answer) const;
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database::~Database() = default;

base::Result<Database> Database::open(const fs::path& library, const fs::path& temporary) {
    STAPGEN_LET(const auto api, load(library));
    auto state = std::make_unique<State>(api);
    void* config = nullptr;
    if (api.create_config(&config) != success) return base::failed("DuckDB: no memory");
    const std::pair<const char*, std::string> settings[] = {{"autoinstall_known_extensions", "false"},
                                                            {"autoload_known_extensions", "false"},
                                                            {"temp_directory", temporary.string()}};
    bool is_set = true;
    for (const auto& [name, value] : settings)
        is_set = api.set_config(config, name, value.c_str()) == success && is_set;
    char* error = nullptr;
    const bool is_open = is_set && api.open_ext(nullptr, &state->database, config, &error) == success;
    api.destroy_config(&config);
    if (!is_set) return base::cannot_here("this DuckDB lacks required settings", "DuckDB 1.4 or later is needed");
    if (!is_open) {
        auto failure = base::failed("DuckDB: " + shown(error));
        api.free(error);
        return failure;
    }
    if (api.connect(state->database, &state->connection) != success) return base::failed("DuckDB: no connection");
    Database database(std::move(state));
    // A time is that of the machine that recorded, whatever this one's is.
    STAPGEN_TRY(database.run("SET TimeZone = 'UTC'"));
    return database;
}

base::Result<void> Database::run(const std::string& sql) {
    Result result{};
    auto done = state_->query(sql, result);
    state_->api.destroy_result(&result);
    return done;
}

/// Of what the statement gives, which is not run. Error (bad_input): it is wrong, or there are several.
base::Result<std::vector<Answer::Column>> Database::State::columns_of(const std::string& sql) const {
    void* statement = nullptr;
    std::vector<Answer::Column> columns;
    std::string wrong;
    if (api.prepare(connection, sql.c_str(), &statement) != success) wrong = shown(api.prepare_error(statement));
    for (std::uint64_t i = 0; wrong.empty() && i < api.prepared_statement_column_count(statement); ++i) {
        auto* const name = const_cast<char*>(api.prepared_statement_column_name(statement, i));
        columns.push_back({name, kind_of(api.prepared_statement_column_type(statement, i))});
        api.free(name);
    }
    api.destroy_prepare(&statement);
    if (wrong.empty()) return columns;
    return base::bad_input(wrong, "give one SELECT; docs/guide/store.md lists the tables and columns");
}

void Database::State::put_rows(Result& result, Answer& answer) const {
    while (void* chunk = api.fetch_chunk(result)) {
        const auto first = answer.rows.size();
        answer.rows.resize(first + api.data_chunk_get_size(chunk));
        for (std::uint64_t column = 0; column < answer.columns.size(); ++column) {
            void* const vector = api.data_chunk_get_vector(chunk, column);
            auto* const texts = static_cast<Text*>(api.vector_get_data(vector));
            const auto* const valid = api.vector_get_validity(vector);
            for (std::size_t i = 0; first + i < answer.rows.size(); ++i) {
                auto& cell = answer.rows[first + i].emplace_back();
                if (valid != nullptr && (valid[i / 64] >> (i % 64) & 1U) == 0) continue;
                cell.emplace(api.string_t_data(&texts[i]), api.string_t_length(texts[i]));
            }
        }
        api.destroy_data_chunk(&chunk);
    }
}

base::Result<Answer> Database::ask(const std::string& sql) {
    // Only a SELECT can be a view. Looked at before it is run: else a second statement would be, too, and to prepare
    // EXPORT DATABASE alone makes a folder.
    const auto view = "CREATE OR REPLACE TEMP VIEW asked AS " + sql;
    STAPGEN_TRY(state_->columns_of(view));
    STAPGEN_TRY(run(view));
    STAPGEN_LET(auto columns, state_->columns_of("FROM asked"));
    Answer answer{std::move(columns), {}};
    Result result{};
    // All as text, so that one type is read.
    auto done = state_->query("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM asked", result);
    if (done) state_->put_rows(result, answer);
    state_->api.destroy_result(&result);
    STAPGEN_TRY(done);
    return answer;
}

Database::Appender::Appender(Database& database, const std::string& table) : database_(&database) {
    const auto& state = *database.state_;
    check(state.api.appender_create(state.connection, nullptr, table.c_str(), &appender_));
}
Database::Appender::Appender(Appender&& other) noexcept
    : database_(other.database_), appender_(std::exchange(other.appender_, nullptr)), error_(std::move(other.error_)) {}
Database::Appender::~Appender() {
    if (appender_ != nullptr) database_->state_->api.appender_destroy(&appender_);
}

void Database::Appender::check(int state) {
    if (state == success || !error_.empty()) return;
    const auto& api = database_->state_->api;
    void* error = api.appender_error_data(appender_);
    error_ = shown(api.error_data_message(error));
    api.destroy_error_data(&error);
}

void Database::Appender::put(std::int64_t value) {
    check(database_->state_->api.append_int64(appender_, value));
}
void Database::Appender::put(std::uint64_t value) {
    check(database_->state_->api.append_uint64(appender_, value));
}
void Database::Appender::put(double value) {
    check(database_->state_->api.append_double(appender_, value));
}
void Database::Appender::put(bool value) {
    check(database_->state_->api.append_bool(appender_, value));
}
void Database::Appender::put(std::string_view text) {
    const auto shown = base::printable(text);
    check(database_->state_->api.append_varchar_length(appender_, shown.data(), shown.size()));
}
void Database::Appender::put(Moment moment) {
    constexpr std::int64_t ns_per_us = 1000;
    // Rounded down, before 1970 too.
    const auto below = moment.epoch_ns % ns_per_us < 0 ? 1 : 0;
    check(database_->state_->api.append_timestamp(appender_, moment.epoch_ns / ns_per_us - below));
}
void Database::Appender::put(std::nullopt_t /*null*/) {
    check(database_->state_->api.append_null(appender_));
}
void Database::Appender::end_row() {
    check(database_->state_->api.appender_end_row(appender_));
}

base::Result<void> Database::Appender::close() {
    check(database_->state_->api.appender_close(appender_));
    if (error_.empty()) return {};
    return base::failed(fmt::format("DuckDB: {}", error_));
}

std::string sql_text(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return quoted + '\'';
}

std::string sql_name(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

}  // namespace stapgen::store
