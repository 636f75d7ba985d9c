// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/below.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "fleet/results.h"
#include "recording/reader.h"
#include "session/measured_facts.h"
#include "session/replay.h"
#include "store/duckdb.h"
#include "store/rows.h"
#include "store/tables.h"
#include "table/texts.h"

namespace stapgen::store {

namespace {

namespace fs = std::filesystem;

/// Files to read, and of a folder what their hosts are called.
struct Inputs {
    std::vector<fs::path> files;
    std::map<fs::path, fleet::HostResult> hosts;
};

base::Result<Inputs> inputs_of(const std::vector<std::string>& words, std::vector<std::string>& problems) {
    Inputs inputs;
    std::error_code error;
    const auto add = [&](const fs::path& file) {
        // One that cannot be read is no reason to leave out the others.
        if (const auto known = recording::runs_of({file}); known) {
            inputs.files.push_back(file);
        } else {
            problems.push_back(known.error().what);
        }
    };
    for (const auto& word : words) {
        if (word == "-")
            return base::bad_input("export reads files: a run is identified by its file", "keep it with -o FILE");
        if (!fs::is_directory(word, error)) {
            add(word);
            continue;
        }
        STAPGEN_LET(const auto hosts, fleet::read_results(word));
        for (const auto& host : hosts) {
            if (!host.recording.empty()) {
                add(host.recording);
                inputs.hosts.emplace(host.recording, host);
            }
            if (!host.why.empty()) problems.push_back(fmt::format("{}: {}", host.host, host.why));
        }
    }
    return inputs;
}

/// The name of a folder as Hive has it: what is no letter of a name is %XX.
std::string folder_name(std::string_view key, std::string_view value) {
    constexpr std::size_t most = 80;
    std::string name = fmt::format("{}=", key);
    for (const unsigned char c : value.substr(0, most))
        name += base::is_word_character(static_cast<char>(c)) || c == '-' || c == '.' ? std::string(1, c)
                                                                                      : fmt::format("%{:02X}", c);
    return name;
}

/// The same for the same recording, and a name of a file.
base::Result<std::string> id_of(const recording::Run& run) {
    constexpr std::size_t digits = 32, most = 64;
    const bool is_name =
        !run.id.empty() && run.id.size() <= most && std::ranges::all_of(run.id, base::is_word_character);
    if (is_name) return run.id;
    if (!run.id.empty()) return base::sha256(run.id).substr(0, digits);
    return base::sha256_of_file(run.files.front()).map([](const std::string& hash) { return hash.substr(0, digits); });
}

/// The files of a store by their runs.
using Files = std::multimap<std::string, fs::path>;

std::string run_of(const fs::path& file) {
    const auto name = file.filename().string();
    return name.substr(0, name.find('.'));
}

/// TABLE/recipe=.../day=.../RUN.parquet
fs::path table_of(const fs::path& file) {
    return file.parent_path().parent_path().parent_path().filename();
}

Files files_in(const fs::path& store) {
    Files files;
    std::error_code error;
    for (fs::recursive_directory_iterator file(store, error), end; !error && file != end; file.increment(error)) {
        if (file->is_regular_file(error) && file->path().extension() == ".parquet")
            files.emplace(run_of(file->path()), file->path());
    }
    return files;
}

class Exporter {
  public:
    Exporter(const ExportPlan& plan, const recipe::Program& program, const symbols::NameSources& names,
             Database& database, const fs::path& temporary)
        : plan_(plan),
          program_(program),
          names_(names),
          database_(database),
          temporary_(temporary),
          there_(files_in(plan.into)) {
        presentation_.slowest = 10;
        presentation_.max_groups = 64;  // an input of a megabyte takes no more than 150, with DuckDB
    }

    /// Error: the store cannot be written. What cannot be read is a problem.
    base::Result<void> add(const recording::Run& run, const fleet::HostResult& host, Exported& done) {
        STAPGEN_LET(const auto id, id_of(run));
        Events events(database_, id);
        const auto records = plan_.events ? events.writer() : nullptr;
        session::ReplayOptions wanted;
        wanted.records = records.get();
        auto loaded = session::load_runs(run.files, presentation_, names_, wanted);
        if (!loaded) {
            done.problems.push_back(loaded.error().what);
            return {};
        }
        auto& [name, reports] = loaded->front();
        session::finish_sums(reports, presentation_);
        auto of_events = events.close();
        if (of_events && !of_events->empty() && reports.size() > 1)
            of_events = base::bad_input("it has several recipes");
        if (!of_events) done.problems.push_back(fmt::format("{}: no events: {}", name, of_events.error().what));
        std::size_t number = 0;
        for (auto& measured : reports) {
            ++number;
            if (measured.recordings > 1) {
                done.problems.push_back(
                    fmt::format("{}: it has {} recordings; put each into its own file", name, measured.recordings));
                continue;
            }
            session::put_meanings(measured, program_.catalog);
            const auto part = number > 1 ? fmt::format("{}-{}", id, number) : id;
            if (auto put = add(part, host, measured, of_events.value_or(std::vector<Filled>()), done); !put) return put;
        }
        return {};
    }

  private:
    base::Result<void> add(const std::string& id, const fleet::HostResult& host, const kinds::Measured& measured,
                           const std::vector<Filled>& events, Exported& done) {
        // As fleet.json calls it, as it calls itself, or as its file is called.
        const bool is_known = !measured.origins.empty() && !measured.origins.front().host.empty();
        const auto& host_name = is_known && !host.is_named ? measured.origins.front().host : host.host;
        STAPGEN_LET(auto filled, put_run(database_, id, host_name, results_of(measured, presentation_)));
        filled.insert(filled.begin(), events.begin(), events.end());
        constexpr std::size_t date_length = 10;
        const auto day = table::utc_time(measured.start_epoch_ns.value_or(0)).substr(0, date_length);
        const auto partition = fs::path(folder_name("recipe", measured.recipe)) / ("day=" + day);
        const auto [first, last] = there_.equal_range(id);
        done.replaced += first == last ? 0 : 1;
        ++done.runs;
        // Its row in `runs` goes first and comes last; in between nobody who is in a hurry ends us.
        const base::HeededSignals heeded;
        for (auto old = first; old != last; ++old) {
            if (table_of(old->second) == runs_table) remove(old->second);
        }
        std::vector<fs::path> written;
        for (const auto& [table, name, suffix] : filled) {
            written.push_back(plan_.into / name / partition / (id + suffix + ".parquet"));
            if (auto put = write(table, written.back()); !put) return put;
        }
        for (auto old = first; old != last; ++old) {
            if (std::ranges::find(written, old->second) == written.end()) remove(old->second);
        }
        if (heeded.count() == 0) return {};
        return base::failed(fmt::format("interrupted: {} run{} exported", done.runs, done.runs == 1 ? "" : "s"),
                            "export again: runs that are there are replaced");
    }

    /// A folder that others can write is no place for DuckDB to write in: it follows links. Neither does root below the
    /// store: its files are changed by a folder that is open, not by its name.
    base::Result<void> write(const std::string& table, const fs::path& file) {
        const auto whole = temporary_ / "table.parquet";
        auto copied = database_.run(
            fmt::format("COPY {} TO {} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {{stapgen: 'stapgen.store/1'}})",
                        sql_name(table), sql_text(whole.string())));
        if (!copied) return copied;
        STAPGEN_LET(const auto content, base::read_file(whole));
        STAPGEN_LET(const auto folder,
                    base::open_below(plan_.into, file.parent_path().lexically_relative(plan_.into), true));
        return base::replace_file(base::path_of(folder) / file.filename(), content);
    }

    void remove(const fs::path& file) const {
        std::error_code error;
        if (const auto folder = base::open_below(plan_.into, file.parent_path().lexically_relative(plan_.into), false))
            fs::remove(base::path_of(*folder) / file.filename(), error);
    }

    const ExportPlan& plan_;
    const recipe::Program& program_;
    const symbols::NameSources& names_;
    Database& database_;
    const fs::path& temporary_;
    Files there_;
    session::Presentation presentation_;
};

}  // namespace

base::Result<Exported> export_runs(const ExportPlan& plan, const recipe::Program& program,
                                   const symbols::NameSources& names) {
    Exported done;
    STAPGEN_LET(const auto inputs, inputs_of(plan.from, done.problems));
    STAPGEN_LET(const auto runs, recording::runs_of(inputs.files));
    STAPGEN_LET(const auto temporary, base::PrivateDirectory::create());
    STAPGEN_LET(auto database, Database::open(program.files.duckdb, temporary.path()));
    Exporter exporter(plan, program, names, database, temporary.path());
    for (const auto& run : runs) {
        const auto host = inputs.hosts.find(run.files.front());
        STAPGEN_TRY(exporter.add(run, host == inputs.hosts.end() ? fleet::HostResult() : host->second, done));
    }
    if (done.runs == 0) {
        return base::bad_input(done.problems.empty() ? "there is nothing to export" : done.problems.front(),
                               "'stapgen help report' lists the formats");
    }
    return done;
}

}  // namespace stapgen::store
