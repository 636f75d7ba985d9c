// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <utility>

#include "base/below.h"
#include "base/build_facts.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/mcp_prompts.h"
#include "cli/options/option_table.h"
#include "host/facts.h"
#include "launch/child_process.h"
#include "mcp/server.h"

namespace stapgen::cli {

namespace {

using mcp::Asked;

/// Tools by stapgen's own commands, each in a process of its own: what a file makes of it ends there.
class Tools {
  public:
    Tools(base::OpenFolder folder, std::string program) : folder_(std::move(folder)), program_(std::move(program)) {}

    [[nodiscard]] std::vector<mcp::Tool> all() const {
        const auto words = [](const Asked& arguments, const char* name) {
            const auto found = arguments.find(name);
            if (found == arguments.end()) return std::vector<std::string>{};
            return found->is_string() ? std::vector{found->get<std::string>()} : found->get<std::vector<std::string>>();
        };
        // The words that a command is called with: its own words, options, and what is typed behind "--".
        const auto tool = [&](mcp::Tool one, std::vector<std::string> command, std::vector<std::string> files,
                              std::vector<std::string> plain) {
            one.call = [this, words, command = std::move(command), files = std::move(files),
                        plain = std::move(plain)](const Asked& arguments) -> base::Result<std::string> {
                auto argv = command;
                for (const auto* const option : {"map", "modules", "release", "by", "port", "addr"}) {
                    const auto values = words(arguments, option);
                    if (values.empty()) continue;
                    const bool is_file = option == std::string_view("map") || option == std::string_view("modules");
                    const auto value = is_file ? below(values.front()) : base::Result<std::string>(values.front());
                    if (!value) return value;
                    argv.push_back(fmt::format("--{}={}", option, *value));
                }
                argv.emplace_back("--");
                for (const auto& name : files) {
                    for (const auto& typed : words(arguments, name.c_str())) {
                        auto file = below(typed);
                        if (!file) return file;
                        argv.push_back(*std::move(file));
                    }
                }
                for (const auto& name : plain) {
                    for (auto& word : words(arguments, name.c_str()))
                        argv.push_back(std::move(word));
                }
                return run(std::move(argv));
            };
            return one;
        };
        const auto file = "below the folder that stapgen mcp serves";
        return {
            {"list_files",
             "The files that can be asked for: bytes and path",
             {},
             [this](const Asked&) { return list(); }},
            tool({"list_kept",
                  "The recordings in a folder that were kept when a condition held (--keep): the condition, its value, "
                  "the moment; the newest first. why and report say what differed at that moment",
                  {{"folder", fmt::format("\".\", or a folder {}", file), false, true}},
                  {},
                  {"kept-1"}},
                 {"list", "--json"}, {"folder"}, {}),
            tool({"list_recipes", "The recipes of stapgen: what each measures", {}, {}, {"list-1"}}, {"list", "--json"},
                 {}, {}),
            tool({"show_recipe",
                  "What a recipe measures: stages, meanings, options, kernels",
                  {{"recipe", "its name", false, true}},
                  {},
                  {"show-1"}},
                 {"show", "--json"}, {}, {"recipe"}),
            tool({"report",
                  "Report recordings, or the output of other tools: percentiles by stage, drops, counters",
                  {{"files", fmt::format("paths {}", file), true, true},
                   {"by", "fields to group by, separated by commas: port, comm, remote, ...", false, false},
                   {"port", "only records with this port", false, false},
                   {"addr", "only records with this address, or one of this network: 10.0.0.0/8", false, false},
                   {"map", "the kernel's System.map or kallsyms, for names of addresses", false, false},
                   {"modules", "a copy of /proc/modules", false, false}},
                  {},
                  {"report-1", "findings-1"}},
                 {"report", "--format=ndjson"}, {"files"}, {}),
            tool({"findings",
                  "What in a support archive (sosreport, must-gather, a tar of logs) or a folder of one points "
                  "to lost or late packets, with the evidence; of two archives of one host, what rose between them",
                  {{"archives", fmt::format("one path, or an older and a newer one, {}", file), true, true}},
                  {},
                  {"findings-1", "report-1"}},
                 {"report", "--format=ndjson"}, {"archives"}, {}),
            tool({"why",
                  "Why packets took as long as they did, of recordings of recipes with stages: where "
                  "the time went, causes, remedies",
                  {{"files", fmt::format("paths {}", file), true, true},
                   {"by", "one field to divide by: comm, pid, port, addr, container", false, false},
                   {"port", "only records with this port", false, false},
                   {"addr", "only records with this address", false, false}},
                  {},
                  {"why-1"}},
                 {"why", "--format=ndjson"}, {"files"}, {}),
            tool(
                {"losses",
                 "What became of received packets from the card to the socket, of recordings of losses: the key ledger",
                 {{"files", fmt::format("paths {}", file), true, true}},
                 {},
                 {"report-1"}},
                {"report", "--format=ndjson"}, {"files"}, {}),
            tool({"fleet_report",
                  "Report the recordings of many hosts as one: the key hosts has each host, the slowest first",
                  {{"folder", fmt::format("what fleet run has written, or any folder of recordings, {}", file), false,
                    true},
                   {"by", "fields to group by, separated by commas: host, recording, label:NAME, port, ...", false,
                    false}},
                  {},
                  {"report-1"}},
                 {"fleet", "report", "--format=ndjson"}, {"folder"}, {}),
            tool({"fleet_why",
                  "Which host is slow, and what its packets wait for, of a folder of recordings; the worst first",
                  {{"folder", fmt::format("what fleet run has written, {}", file), false, true}},
                  {},
                  {"fleet-why-1"}},
                 {"fleet", "why", "--format=json"}, {"folder"}, {}),
            tool({"between",
                  "Is it the network: where requests wait, at the client, between the hosts, or at the server; of "
                  "recordings of both-ends",
                  {{"files", fmt::format("paths {}: one or more for each end", file), true, true}},
                  {},
                  {"between-1"}},
                 {"between", "--format=json"}, {"files"}, {}),
            tool({"compare",
                  "What became slower or faster between two recordings, with confidence",
                  {{"before", fmt::format("a path {}", file), false, true}, {"after", "another one", false, true}},
                  {},
                  {"compare-1"}},
                 {"compare", "--format=json"}, {"before", "after"}, {}),
            tool({"resolve",
                  "Names of kernel addresses, from a symbol table",
                  {{"map", fmt::format("System.map or kallsyms, {}", file), false, true},
                   {"modules", "a copy of /proc/modules", false, false},
                   {"addresses", "0xffffffff8149a8ed, ...", true, true}},
                  {},
                  {"name-1"}},
                 {"resolve", "--format=ndjson"}, {}, {"addresses"}),
            tool({"help",
                  "stapgen's own help: of a recipe, a command, drop-reasons, waits, stap-failures",
                  {{"words", "\"drop-reasons\", \"NO_SOCKET\"", true, false}},
                  {}},
                 {"help"}, {}, {"words"}),
        };
    }

    /// Texts that say which of these to call, for what users ask.
    [[nodiscard]] std::vector<mcp::Prompt> prompts() const {
        return mcp_prompts([this](const std::string& typed) { return below(typed); });
    }

    /// The user has ended a call, and the server with it.
    [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }

  private:
    static constexpr std::size_t max_answer = 4U << 20U;
    static constexpr auto max_time = std::chrono::seconds(120);

    [[nodiscard]] base::Result<std::string> list() const {
        constexpr std::size_t most = 1000;
        std::string lines;
        std::size_t count = 0;
        const auto folder = base::path_of(folder_);
        std::error_code error;
        // Links are not followed.
        for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            if (entry->is_symlink(error) || !entry->is_regular_file(error)) continue;
            if (++count > most) return fmt::format("{}these are the first {}\n", lines, most);
            lines += fmt::format("{} {}\n", entry->file_size(error),
                                 base::printable(entry->path().lexically_relative(folder).string()));
        }
        return lines;
    }

    /// A path of the client's, if something that can be read is there below the folder. Who opens it looks again.
    [[nodiscard]] base::Result<std::string> below(const std::string& typed) const {
        const base::Descriptor open(base::open_beneath(folder_->get(), typed, O_PATH | O_CLOEXEC));
        struct stat status {};
        if (open.get() < 0 || ::fstat(open.get(), &status) != 0) {
            return base::bad_input(fmt::format("there is no {} below the folder", base::printable(typed)),
                                   "paths are relative to the folder that stapgen mcp was started with");
        }
        if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
            return base::bad_input(fmt::format("{} is neither a file nor a folder", base::printable(typed)), {});
        return typed;
    }

    [[nodiscard]] base::Result<std::string> run(std::vector<std::string> argv) const {
        argv.insert(argv.begin(), program_);
        launch::Command command{std::move(argv), {{confined_variable, "1"}}, {}, base::path_of(folder_)};
        std::string out, said;
        bool is_long = false;
        const auto until = std::chrono::steady_clock::now() + max_time;
        launch::Handlers handlers;
        handlers.bytes = [&](std::string_view bytes, launch::Control& control) {
            is_long = is_long || out.size() + bytes.size() > max_answer;
            if (is_long) return control.stop_within(std::chrono::milliseconds(0));
            out += bytes;
        };
        handlers.error = [&](launch::Line line, launch::Control&) {
            if (said.size() < max_answer) said.append(line.text).append("\n");
        };
        handlers.tick = [&](launch::Control& control) {
            if (std::chrono::steady_clock::now() > until) control.stop_within(std::chrono::milliseconds(0));
        };
        STAPGEN_LET(const auto ending, launch::run_child(command, handlers));
        is_interrupted_ = is_interrupted_ || ending.interrupted;
        if (is_long) {
            return base::bad_input(fmt::format("the answer is longer than {} MiB", max_answer >> 20U),
                                   "ask for fewer files, or group by less");
        }
        if (ending.was_stopped)
            return base::bad_input("the command took longer than two minutes", "ask for fewer files");
        // compare ends with 3 where something differs: that is its answer.
        if (ending.signal != 0 || (ending.exit_code != 0 && out.empty()))
            return base::bad_input(said.empty() ? "the command ended without an answer" : said, {});
        return out;
    }

    base::OpenFolder folder_;
    std::string program_;
    mutable bool is_interrupted_ = false;
};

base::Result<void> serve_mcp(const Call& /*call*/, const McpOptions& options) {
    auto folder =
        std::make_unique<base::Descriptor>(::open(options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder->get() < 0)
        return base::bad_input(fmt::format("{} is not a folder", base::printable(options.folder)),
                               "name the folder that clients may read");
    const Tools tools(std::move(folder), host::own_program().string());
    const mcp::Server server(base::build_facts.version, tools.all(), tools.prompts());
    std::string buffer(mcp::max_request + 2, '\0');
    while (std::cin.getline(buffer.data(), static_cast<std::streamsize>(buffer.size())) || std::cin.gcount() > 0) {
        if (std::cin.fail() && !std::cin.eof()) {
            std::cin.clear();
            std::cin.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
        }
        const std::string_view line(buffer.data());
        if (const auto answer = server.answer(line)) std::cout << *answer << std::endl;
        if (tools.is_interrupted()) break;
    }
    return {};
}

}  // namespace

CommandSpec mcp_command() {
    CommandSpec command{"stapgen", "mcp", "Serve a folder to MCP clients over stdio"};
    auto& options = add_values<McpOptions>(command, serve_mcp);
    command.notes =
        "A server on stdin and stdout, for clients that start it. It reads the files below one folder: list, show,\n"
        "report, findings, why, losses, fleet_report, fleet_why, between, compare, resolve and help. Its prompts,\n"
        "requests-are-slow, packets-vanish and what-changed, say which of these to call. It measures nothing, loads\n"
        "nothing and writes nothing there.\n";
    command.examples = {"stapgen mcp cases"};
    command.options = {option("folder", "FOLDER", groups::arguments, "What clients may read", "", &options.folder,
                              {.required = true})};
    return command;
}

}  // namespace stapgen::cli
