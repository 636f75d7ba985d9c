// SPDX-License-Identifier: GPL-2.0-or-later
// resolve_bench load MAP            reads MAP and makes a table of it; prints the milliseconds of the processor
// resolve_bench find MAP ADDRESSES  looks up each address of a file, one a line, as they are; prints millions a second
// resolve_bench name MAP            names each word of stdin that is an address, one a line, as addr2line -f does
// resolve_bench annotate MAP        copies stdin with names in place of addresses

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "symbols/annotate.h"

using namespace stapgen;

namespace {

[[noreturn]] void give_up(const base::Error& error) {
    fmt::print(stderr, "resolve_bench: {}\n", error.what);
    std::exit(2);
}

double processor_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

symbols::SymbolTable table_of(const char* path) {
    auto table = symbols::SymbolTable::read(path);
    if (!table) give_up(table.error());
    return std::move(*table);
}

void load(const char* map) {
    const auto begin = processor_seconds();
    const auto table = table_of(map);
    fmt::print("{:.3f}\n", (processor_seconds() - begin) * 1e3);
}

void find(const char* map, const char* file) {
    const auto table = table_of(map);
    const auto text = base::read_file(file);
    if (!text) give_up(text.error());
    std::vector<std::uint64_t> addresses;
    for (const auto line : base::split(*text, '\n')) {
        if (const auto address = base::to_unsigned(line, 16)) addresses.push_back(*address);
    }
    std::size_t found = 0;
    const auto begin = processor_seconds();
    for (const auto address : addresses) {
        const auto symbol = table.find(address);
        if (symbol && symbol->offset < symbol->size) ++found;
    }
    const auto seconds = processor_seconds() - begin;
    fmt::print("{:.3f} {}\n", static_cast<double>(addresses.size()) / seconds / 1e6, found);
}

class Names {
  public:
    explicit Names(const symbols::SymbolTable& table) : table_(table) {}
    bool operator()(std::uint64_t address, symbols::AddressKind kind, std::string& out) const {
        const bool exact = kind == symbols::AddressKind::exact;
        const auto symbol = table_.find(address, {exact ? kind : symbols::AddressKind::return_address, 0});
        if (!symbol) return false;
        append(out, *symbol);
        return true;
    }

  private:
    const symbols::SymbolTable& table_;
};

/// Calls `take` with pieces of stdin.
template <class Take>
void read_stdin(Take take) {
    std::string buffer(256 * 1024, '\0');
    for (;;) {
        const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count <= 0) return;
        take(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    }
}

void write_out(std::string& out) {
    std::fwrite(out.data(), 1, out.size(), stdout);
    out.clear();
}

void name(const char* map) {
    const auto table = table_of(map);
    std::string text;
    read_stdin([&](std::string_view piece) { text += piece; });
    std::string out;
    for (const auto line : base::split(text, '\n')) {
        if (line.empty()) continue;
        const auto address = symbols::parse_address(line);
        if (!address) give_up(address.error());
        const auto symbol = table.find(*address);
        out += symbol ? symbol->name : "??";
        out += '\n';
    }
    write_out(out);
}

void annotate(const char* map) {
    const auto table = table_of(map);
    const Names names(table);
    symbols::Annotator annotator(names);
    std::string out, lines;
    read_stdin([&](std::string_view piece) {
        lines += piece;
        const auto whole = lines.rfind('\n') + 1;
        annotator.annotate(std::string_view(lines).substr(0, whole), out);
        lines.erase(0, whole);
        write_out(out);
    });
    annotator.annotate(lines, out);
    write_out(out);
}

}  // namespace

int main(int count, char** words) {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    const std::string_view what = count > 1 ? words[1] : "";
    if (count == 3 && what == "load") {
        load(words[2]);
    } else if (count == 4 && what == "find") {
        find(words[2], words[3]);
    } else if (count == 3 && what == "name") {
        name(words[2]);
    } else if (count == 3 && what == "annotate") {
        annotate(words[2]);
    } else {
        std::fputs("usage: resolve_bench load|find|name|annotate MAP [ADDRESSES]\n", stderr);
        return 2;
    }
    return 0;
}
