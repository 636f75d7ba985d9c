// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <new>
#include <system_error>

#include "base/exit_codes.h"
#include "base/files.h"
#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/help/help.h"
#include "cli/options/config.h"
#include "cli/options/parse.h"
#include "host/facts.h"
#include "recipe/catalog.h"

namespace stapgen::cli {

namespace {

/// To be called before any file is opened: one would get the number of a stream that is closed, and what is meant for
/// the stream would go into it.
void hold_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // Opened the other way round, so that it can be neither read nor written, as before.
        (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

/// A reader that went away and a terminal that was closed wanted no more.
bool nobody_reads() {
    struct stat status {};
    if (::fstat(STDOUT_FILENO, &status) != 0) return false;
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return true;
    // isatty() says no of a terminal that was closed, and what the first write failed of is not known any more.
    return S_ISCHR(status.st_mode) && ::write(STDOUT_FILENO, "\n", 1) < 0 && errno == EIO;
}

/// Where in its file the output begins; below 0: not in a file.
off_t output_begins() {
    struct stat status {};
    if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
    return (::fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) != 0 ? status.st_size : ::lseek(STDOUT_FILENO, 0, SEEK_CUR);
}

/// Writes what is not written yet. Error: what stdout goes to did not take all of it. `page_begins`: half of a page is
/// taken out of the file again.
base::Result<void> finish_output(off_t page_begins) {
    if (std::cout.flush() || nobody_reads()) return {};
    if (page_begins >= 0 && ::ftruncate(STDOUT_FILENO, page_begins) == 0) {
        return base::failed("the page could not be written whole, and nothing of it is in the file",
                            "check whether the disk is full");
    }
    return base::failed("the output is incomplete: it could not be written",
                        "check whether stdout is closed, or its disk full");
}

/// By the --format that it was given, or has.
bool prints_page(const CommandSpec& command) {
    const auto* format = option_named(command, "--format");
    auto* const* value = format == nullptr ? nullptr : std::get_if<std::string*>(&format->target);
    return value != nullptr && **value == "html";
}

/// `given`, without the program's name, to what it asks for, done. `is_page`: it is to print a page.
base::Result<void> perform(const std::vector<std::string>& given, bool& is_page) {
    // Called by shells: another command line follows `--`.
    const bool completing = given.size() > 1 && given[0] == "complete" && given[1] == "--";
    const std::vector<std::string> words(given.begin() + (completing ? 2 : 0), given.end());
    STAPGEN_LET(auto files, recipe::find_program_files(host::own_program()));
    const auto beginning = beginning_of(words);
    auto folders = recipe::recipe_folders(beginning.recipe_path, files);
    if (is_manual_of_installed({words.begin() + static_cast<std::ptrdiff_t>(beginning.verb), words.end()})) {
        folders = {{files.templates}};
    }
    recipe::Program program{files, recipe::load_catalog(folders)};
    set_aside_clashes(program.catalog);
    const auto root = command_table(program.catalog);
    if (completing) {
        print(completion_of({program, root}, words));
        return {};
    }
    STAPGEN_LET(const auto config, read_config_files());
    STAPGEN_LET(const auto invocation, parse(root, program.catalog, words, config));
    const auto& command = *invocation.command;
    is_page = prints_page(command);
    switch (invocation.wanted) {
        case Invocation::Wanted::short_help:
            std::cout << short_help(command, help_width());
            return {};
        case Invocation::Wanted::whole_help:
            std::cout << whole_help(command, help_width());
            return {};
        case Invocation::Wanted::version:
            base::print_text(version_text(program) + '\n');
            return {};
        case Invocation::Wanted::action:
            break;
    }
    return command.action({program, root, command, beginning.recipe_path});
}

}  // namespace

namespace {

/// An exception of a library that nobody expected is an error like others, and what was written so far stays.
base::Result<void> perform_guarded(const std::vector<std::string>& words, bool& is_page) {
    const auto of_the_system = [](int code, const char* what) {
        const bool is_limit = code == EMFILE || code == ENFILE || code == EAGAIN;
        return base::failed(
            what,
            is_limit ? "raise the limit that was reached: ulimit -n for open files, ulimit -u for processes" : "");
    };
    try {
        return perform(words, is_page);
    } catch (const std::bad_alloc&) {
        return base::failed("there is not enough memory", "free some, or raise the limit: ulimit -v");
    } catch (const std::system_error& error) {
        return of_the_system(error.code().value(), error.what());
    } catch (const boost::system::system_error& error) {
        return of_the_system(error.code().value(), error.what());
    } catch (const std::exception& error) {
        return base::failed(fmt::format("this is a fault of stapgen: {}", error.what()),
                            "report it with the command line and its input: CONTRIBUTING.md");
    }
}

}  // namespace

int run_command_line(const std::vector<std::string>& words) {
    hold_standard_streams();
    if (std::getenv(confined_variable) != nullptr) base::confine_relative_paths();
    const auto begins = output_begins();
    bool is_page = false;
    const auto done = perform_guarded(words, is_page);
    const auto written = finish_output(is_page ? begins : -1);
    if (!written) base::show_error(written.error());
    if (done) return written ? 0 : base::exit_code_of(written.error().kind);
    base::show_error(done.error());
    return base::exit_code_of(done.error().kind);
}

}  // namespace stapgen::cli
