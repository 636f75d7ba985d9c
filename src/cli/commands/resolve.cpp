#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/annotate.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "host/facts.h"
#include "recording/reader.h"
#include "report/json.h"
#include "session/namer.h"
#include "symbols/annotate.h"

namespace stapgen::cli {

namespace {

using symbols::AddressKind;
using symbols::KernelNames;
using Json = nlohmann::ordered_json;

std::string line_text(const symbols::SourceFrame& frame) {
    return fmt::format("    {}{} at {}:{}\n", frame.inlined ? "(inlined) " : "",
                       frame.function.empty() ? "?" : frame.function, frame.file.empty() ? "?" : frame.file,
                       frame.line);
}

Json name_json(const KernelNames& names, std::uint64_t address, AddressKind kind, bool lines) {
    Json out{{"address", fmt::format("0x{:x}", address)},
             {"symbol", nullptr},
             {"offset", nullptr},
             {"size", nullptr},
             {"module", nullptr}};
    const auto name = names.find(address, kind);
    if (const auto& symbol = name.symbol) {
        out["symbol"] = symbol->name;
        out["offset"] = symbol->offset;
        out["size"] = symbol->size;
        if (symbol->module) out["module"] = *symbol->module;
        if (symbol->init_text) out["init_text"] = true;
    }
    if (const auto& near = name.near) {
        out["near"] = {{"module", near->name}, {"offset", near->offset}, {"size", near->size}};
    }
    if (!lines) return out;
    out["source"] = Json::array();
    for (const auto& frame : names.source(address, kind)) {
        out["source"].push_back(
            {{"function", frame.function}, {"file", frame.file}, {"line", frame.line}, {"inlined", frame.inlined}});
    }
    return out;
}

base::Result<KernelNames> names_for(const Options& options) {
    symbols::LogKernel log;
    if (!options.recording.empty()) {
        const auto reader = recording::Reader::open(options.recording);
        if (!reader) return tl::make_unexpected(reader.error());
        if (!reader->header()) {
            return base::bad_input(fmt::format("{} is no recording of stapgen", base::printable(options.recording)),
                                   "'-o FILE' makes one");
        }
        log = reader->header()->setup.kernel;
    } else if (options.names.empty()) {
        return KernelNames::of_this_machine(host::kallsyms_file, host::modules_file);
    }
    return KernelNames::open(options.names, log);
}

/// The addresses of a command line or of stdin.
class Resolving {
  public:
    Resolving(const Options& options, KernelNames& names)
        : options_(options),
          names_(names),
          digits_(static_cast<std::size_t>(names.address_digits())),
          kind_(options.drop_sites         ? AddressKind::drop_site
                : options.return_addresses ? AddressKind::return_address
                                           : AddressKind::exact) {}

    void show(std::string_view word) {
        if (const auto address = parse(word)) show(*address);
    }
    std::optional<std::uint64_t> parse(std::string_view word) {
        const auto address = symbols::parse_address(word);
        if (address) return *address;
        base::show_error(address.error());
        all_good_ = false;
        return std::nullopt;
    }
    void show(std::uint64_t address) {
        constexpr std::size_t at_once = 64;
        asked_.push_back(address);
        if (asked_.size() == at_once) answer();
    }
    /// What has been answered is written out.
    void flush() {
        answer();
        write();
    }
    [[nodiscard]] base::Result<void> outcome() const {
        if (all_good_) return {};
        return base::bad_input("not everything was an address");
    }

  private:
    void answer() {
        names_.look_ahead(asked_);
        for (const auto address : asked_)
            put(address);
        asked_.clear();
        constexpr std::size_t enough = 64U << 10U;
        if (out_.size() > enough) write();
    }

    void write() {
        std::cout.write(out_.data(), static_cast<std::streamsize>(out_.size())).flush();
        out_.clear();
    }

    void put(std::uint64_t address) {
        if (options_.present.format == "ndjson") {
            report::put_json(std::cout, name_json(names_, address, kind_, options_.lines), -1);
            return;
        }
        put_digits(address);
        const auto name = names_.find(address, kind_);
        if (name.symbol) {
            symbols::append(out_, *name.symbol);
        } else {
            out_ += to_string(name);
        }
        out_ += '\n';
        if (!options_.lines) return;
        for (const auto& frame : names_.source(address, kind_))
            out_ += line_text(frame);
    }

    /// With zeros before it, and a blank behind it.
    void put_digits(std::uint64_t address) {
        std::array<char, 2 * sizeof(address)> text{};
        const auto length = static_cast<std::size_t>(
            std::to_chars(text.data(), text.data() + text.size(), address, 16).ptr - text.data());
        if (length < digits_) out_.append(digits_ - length, '0');
        out_.append(text.data(), length) += ' ';
    }

    const Options& options_;
    KernelNames& names_;
    std::size_t digits_;
    AddressKind kind_;
    std::vector<std::uint64_t> asked_;  ///< and not yet answered
    std::string out_;
    bool all_good_ = true;
};

/// Calls `take` with each, and `pause` before more is waited for.
template <class Take, class Pause>
base::Result<void> each_word_of_stdin(const Take& take, const Pause& pause) {
    auto source = base::Source::open("-");
    if (!source) return tl::make_unexpected(source.error());
    std::vector<char> buffer(64U << 10U);
    std::string text;
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
    while (std::cout) {
        const auto count = (*source)->read(buffer);
        if (!count) return tl::make_unexpected(count.error());
        text.append(buffer.data(), *count);
        // A word may go on in the next piece.
        const auto whole = *count == 0 ? text.size() : text.find_last_of(" \t\n") + 1;
        for (std::size_t at = 0; at < whole;) {
            const auto* const stop = std::find_if(text.data() + at, text.data() + whole, is_blank);
            const auto end = static_cast<std::size_t>(stop - text.data());
            const auto word = base::trim(std::string_view(text).substr(at, end - at));
            if (!word.empty()) take(word);
            at = end + 1;
        }
        text.erase(0, whole);
        pause();
        if (*count == 0) break;
    }
    return {};
}

base::Result<void> resolve(const Call& call) {
    const auto& options = call.options;
    auto names = names_for(options);
    if (!names) return tl::make_unexpected(names.error());
    if (options.lines) {
        if (auto opened = names->open_lines(); !opened) return opened;
    }
    if (options.annotate) {
        if (options.words.size() > 1) {
            return base::bad_input("--annotate reads one file", "give one, or - for stdin");
        }
        return annotate(*names, options.words.empty() ? "-" : options.words.front());
    }
    Resolving resolving(options, *names);
    // With the KASLR offset known addresses are answered as they come; to infer it all have to be there.
    const bool streaming = names->kaslr_offset_known() && options.words.empty();
    session::ReportedNotes reported;
    if (streaming) session::report_notes(*names, reported);
    std::vector<std::uint64_t> all;
    const auto take = [&](std::string_view word) {
        if (streaming) return resolving.show(word);
        if (const auto address = resolving.parse(word)) all.push_back(*address);
    };
    for (const auto& word : options.words)
        take(word);
    if (options.words.empty()) {
        if (auto read = each_word_of_stdin(take, [&] { resolving.flush(); }); !read) return read;
    }
    if (!streaming && !all.empty()) {
        if (auto settled = session::settle_kaslr_offset(*names, all, reported); !settled) return settled;
    }
    for (const auto address : all)
        resolving.show(address);
    resolving.flush();
    return resolving.outcome();
}

}  // namespace

CommandSpec resolve_command(Options& options) {
    CommandSpec command{resolve, "stapgen", "resolve", "Kernel addresses to names: name+0xoffset/0xsize [module]"};
    command.notes = "Without --map: this machine's kernel.\n";
    command.examples = {"stapgen resolve --map System.map 0xffffffff8149a8ed",
                        "stapgen resolve --map System.map --map vmlinuz --annotate <drops.txt",
                        "dmesg -w | stapgen resolve --annotate"};
    command.options = joined({
        {{"address", "HEX", groups::arguments, "Addresses", "none: read them from stdin. With --annotate a file",
          &options.words}},
        name_options(options.names),
        {{"--recording", "FILE", groups::names, "The addresses are of this recording's kernel",
          "its KASLR offset and modules are taken from it", &options.recording},
         {"--return-addresses", "", groups::other, "They are return addresses, of a backtrace", "look one byte before",
          &options.return_addresses},
         {"--drop-sites", "", groups::other, "They are places of drops",
          "return addresses, or the function itself where it begins there", &options.drop_sites},
         {"--annotate", "", groups::other, "Copy a text through, with names in place of kernel addresses", "",
          &options.annotate},
         {"-l,--lines", "", groups::other, "Also file and line", "inlined functions first, needs DWARF",
          &options.lines}},
        format_options(options.present.format, {"table", "ndjson"}, "ndjson has an object for each address"),
    });
    exclude(command.options, "--annotate", {"--lines", "--format", "--json"});
    return command;
}

}  // namespace stapgen::cli
