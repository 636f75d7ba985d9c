// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "store/query.h"

/// Recordings to columns, and questions to them.
namespace stapgen::cli {

namespace {

base::Result<void> export_runs(const Call& call, const ExportOptions& options) {
    const store::ExportPlan plan{options.files, options.store, options.events};
    STAPGEN_LET(const auto done, store::export_runs(plan, call.program, options.names));
    auto text =
        fmt::format("{}: {} run{} exported", base::printable(options.store), done.runs, done.runs == 1 ? "" : "s");
    if (done.replaced > 0) text += fmt::format(", {} of them replaced", done.replaced);
    base::print_text(text + '\n');
    if (done.problems.empty()) return {};
    base::print_message(done.problems);
    return tl::make_unexpected(base::Error{
        base::ErrorKind::partial,
        fmt::format("{} input{} could not be exported", done.problems.size(), done.problems.size() == 1 ? "" : "s"),
        "they are listed above; the rest is in " + base::printable(options.store)});
}

base::Result<void> query(const Call& call, const QueryOptions& options) {
    if (options.question.empty() == options.sql.empty()) {
        return base::bad_input(
            options.question.empty() ? "no query is given" : "SQL and --ask exclude each other",
            fmt::format("give SQL, or --ask with one of {}", fmt::join(store::question_names, ", ")));
    }
    STAPGEN_LET(auto sql, options.question.empty() ? base::Result<std::string>(options.sql)
                                                   : store::question(call.program.files, options.question));
    STAPGEN_LET(const auto answer, store::query(options.store, sql, call.program.files));
    store::write_answer(std::cout, answer, options.format);
    if (answer.rows.empty()) base::print_message("no rows");
    return {};
}

}  // namespace

CommandSpec export_command() {
    CommandSpec command{"stapgen", "export", "Write recordings to Parquet files, for query and other engines"};
    auto& options = add_values<ExportOptions>(command, export_runs);
    command.notes =
        "Each export adds to the folder and replaces runs that it already has. docs/guide/store.md lists the\ntables. "
        "Needs DuckDB's library, libduckdb.so. Exit code 5: some inputs could not be exported.\n";
    command.examples = {"stapgen export web1.rec web2.rec --parquet store", "stapgen export monday --parquet store"};
    command.options = joined({
        {option("file", "FILE", groups::arguments, "Files that 'report' reads, or folders of 'fleet run'", "",
                &options.files, {.required = true}),
         option("--parquet", "DIR", groups::output, "The folder for the files", "created if missing", &options.store,
                {.required = true}),
         {"--events", "", groups::output, "Each record, too",
          "one row each; records aggregated in the kernel have none", &options.events}},
        name_options(options.names),
    });
    return command;
}

CommandSpec query_command() {
    CommandSpec command{"stapgen", "query", "Query with SQL what 'export' wrote"};
    auto& options = add_values<QueryOptions>(command, query);
    command.notes =
        "Tables: hist, sums, account, drops, counts, slow, labels, runs, and events if they were exported. A "
        "query\ncan write nothing and read no other file.\n";
    command.examples = {"stapgen query store --ask p99-by-host",
                        "stapgen query store 'SELECT host, count(*) FROM runs GROUP BY host'"};
    command.options = joined({
        {option("store", "DIR", groups::arguments, "The folder of 'export --parquet'", "", &options.store,
                {.required = true}),
         {"sql", "SQL", groups::arguments, "A SELECT", "", &options.sql},
         option("--ask", "NAME", groups::arguments, "A prepared question", "", &options.question,
                {.choices = store::question_names})},
        format_options(options.format, {"table", "json", "ndjson", "csv"}, ""),
    });
    return command;
}

}  // namespace stapgen::cli
