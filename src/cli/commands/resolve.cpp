// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <iostream>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/annotate.h"
#include "cli/commands/answers.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "host/facts.h"
#include "launch/child_process.h"
#include "recording/reader.h"

namespace stapgen::cli {

namespace {

using symbols::AddressKind;
using symbols::KernelNames;

base::Result<KernelNames> names_for(const ResolveOptions& options) {
    symbols::LogKernel log;
    if (!options.recording.empty()) {
        STAPGEN_LET(const auto reader, recording::Reader::open(options.recording));
        if (!reader.header()) {
            return base::bad_input(fmt::format("{} is not a recording of stapgen", base::printable(options.recording)),
                                   "'-o FILE' writes one");
        }
        log = reader.header()->setup.kernel;
    } else if (options.names.empty()) {
        base::print_message(fmt::format("names are those of the running kernel, {}; of another one: --map FILE",
                                        launch::this_machine()->running_release()));
        return KernelNames::of_this_machine(host::kallsyms_file, host::modules_file);
    }
    return KernelNames::open(options.names, log);
}

base::Result<void> resolve(const Call& /*call*/, const ResolveOptions& options) {
    STAPGEN_LET(auto names, names_for(options));
    if (options.lines) {
        if (auto opened = names.open_lines(); !opened) return opened;
    }
    if (options.annotate) {
        if (options.words.size() > 1) {
            return base::bad_input("--annotate reads one file", "give one, or - for stdin");
        }
        return annotate(names, options.words.empty() ? "-" : options.words.front(), std::cout);
    }
    const AnswerForm form{.kind = options.drop_sites         ? AddressKind::drop_site
                                  : options.return_addresses ? AddressKind::return_address
                                                             : AddressKind::exact,
                          .is_json = options.format == "ndjson",
                          .lines = options.lines};
    return options.words.empty() ? answer(names, form, "-", std::cout) : answer(names, form, options.words, std::cout);
}

}  // namespace

CommandSpec resolve_command() {
    CommandSpec command{"stapgen", "resolve", "Name kernel addresses: name+0xoffset/0xsize [module]"};
    auto& options = add_values<ResolveOptions>(command, resolve);
    command.notes = "Without --map: this machine's kernel.\n";
    command.examples = {"stapgen resolve --map System.map 0xffffffff8149a8ed",
                        "stapgen resolve --map System.map --annotate <drops.txt",
                        "dmesg -w | stapgen resolve --annotate"};
    command.options = joined({
        {{"address", "HEX", groups::arguments, "Addresses", "default: read from stdin. With --annotate: a file",
          &options.words}},
        name_options(options.names),
        {{"--recording", "FILE", groups::names, "Use the kernel of this recording", "with its KASLR offset and modules",
          &options.recording},
         {"--return-addresses", "", groups::other, "The addresses are return addresses, from a backtrace",
          "looks up the byte before", &options.return_addresses},
         {"--drop-sites", "", groups::other, "The addresses are places of drops",
          "a return address, or the start of a function", &options.drop_sites},
         {"--annotate", "", groups::other, "Copy a text, with names instead of kernel addresses", "",
          &options.annotate},
         {"-l,--lines", "", groups::other, "Also file and line", "with inlined functions; needs DWARF",
          &options.lines}},
        format_options(options.format, {"table", "ndjson"}, "ndjson: one object per address"),
    });
    exclude(command.options, "--annotate", {"--lines", "--format", "--json"});
    return command;
}

}  // namespace stapgen::cli
