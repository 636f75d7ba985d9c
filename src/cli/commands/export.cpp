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

base::Result<void> export_runs(const Call& call) {
    auto& options = call.options;
    const store::ExportPlan plan{options.words, options.into, options.measure.plan.events};
    const auto done = store::export_runs(plan, call.program, options.names);
    if (!done) return tl::make_unexpected(done.error());
    std::cout << fmt::format("{}: {} run{} exported", base::printable(options.into), done->runs,
                             done->runs == 1 ? "" : "s");
    if (done->replaced > 0) std::cout << fmt::format(", {} of them in place of what was there", done->replaced);
    std::cout << '\n';
    if (done->problems.empty()) return {};
    base::print_message(done->problems);
    return tl::make_unexpected(base::Error{
        base::ErrorKind::partial,
        fmt::format("{} thing{} could not be exported", done->problems.size(), done->problems.size() == 1 ? "" : "s"),
        "they are named above; the rest is in " + base::printable(options.into)});
}

base::Result<void> query(const Call& call) {
    auto& options = call.options;
    if (options.name.empty() == options.file.empty()) {
        return base::bad_input(options.name.empty() ? "nothing is asked" : "SQL and --ask: only one of them",
                               fmt::format("give SQL, or --ask one of {}", fmt::join(store::question_names, ", ")));
    }
    auto sql = options.name.empty() ? base::Result<std::string>(options.file)
                                    : store::question(call.program.files, options.name);
    if (!sql) return tl::make_unexpected(sql.error());
    const auto answer = store::query(options.into, *sql, call.program.files);
    if (!answer) return tl::make_unexpected(answer.error());
    store::write_answer(std::cout, *answer, options.present.format);
    if (answer->rows.empty()) base::print_message("there is nothing of that");
    return {};
}

}  // namespace

CommandSpec export_command(Options& options) {
    CommandSpec command{export_runs, "stapgen", "export", "Recordings to Parquet files, for query and other engines"};
    command.notes =
        "The folder grows with each export; a run that is there already is replaced. The tables are in\n"
        "docs/guide/store.md.\n"
        "It takes DuckDB's library, libduckdb.so. Exit code 5: some of it could not be exported.\n";
    command.examples = {"stapgen export web1.rec web2.rec --parquet store", "stapgen export monday --parquet store"};
    command.options = joined({
        {option("file", "FILE", groups::arguments, "What 'report' reads, or folders that 'fleet run' made", "",
                &options.words, {.required = true}),
         option("--parquet", "DIR", groups::output, "The folder of the files", "made where there is none",
                &options.into, {.required = true}),
         {"--events", "", groups::output, "Each record, too",
          "one row for each; those that the kernel aggregated are in none", &options.measure.plan.events}},
        name_options(options.names),
    });
    return command;
}

CommandSpec query_command(Options& options) {
    CommandSpec command{query, "stapgen", "query", "Ask what 'export' has written, in SQL"};
    command.notes =
        "Tables: hist, sums, account, drops, counts, slow, labels, runs, and events where they were exported. Nothing\n"
        "can be written, and no other file be read.\n";
    command.examples = {"stapgen query store --ask p99-by-host",
                        "stapgen query store 'SELECT host, count(*) FROM runs GROUP BY host'"};
    command.options = joined({
        {option("store", "DIR", groups::arguments, "What 'export' was told as --parquet", "", &options.into,
                {.required = true}),
         {"sql", "SQL", groups::arguments, "A SELECT", "", &options.file},
         option("--ask", "NAME", groups::arguments, "A question that is known", "", &options.name,
                {.choices = store::question_names})},
        format_options(options.present.format, {"table", "json", "ndjson", "csv"}, ""),
    });
    return command;
}

}  // namespace stapgen::cli
