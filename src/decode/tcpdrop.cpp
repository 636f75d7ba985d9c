// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/text.h"
#include "decode/importers.h"

namespace stapgen::decode {

namespace {

/// "20:49:06".
bool is_clock(std::string_view text) {
    return text.size() == 8 && text[2] == ':' && text[5] == ':' && base::is_decimal(text.substr(0, 2)) &&
           base::is_decimal(text.substr(3, 2)) && base::is_decimal(text.substr(6));
}

/// "10.32.119.56:443", "fe80::1:443".
bool is_endpoint(std::string_view text) {
    const auto colon = text.rfind(':');
    return colon != std::string_view::npos && colon > 0 && base::is_decimal(text.substr(colon + 1));
}

/// "12" of "(12)"; nothing if it is not in parentheses.
std::optional<std::string_view> enclosed(std::string_view text) {
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return std::nullopt;
    return text.substr(1, text.size() - 2);
}

/// What bcc's tcpdrop prints for each dropped TCP packet:
///     20:49:06 0      4  10.32.119.56:443     > 10.66.65.252:22912   CLOSE (ACK)
///     14:46:49 0      4  39.156.66.10:80      > 10.211.55.10:33280   SYN_SENT (SYN|ACK)   NETFILTER_DROP (12)
/// The second with a reason, since March 2025. Below it are the calls that led there; the first that does not
/// only drop is the place. And what bpftrace's tcpdrop.bt prints, with the calls below it:
///     20:49:06 0        swapper/2        10.32.119.56:443      10.66.65.252:22912    CLOSE
/// Of a reason the number is taken: the name is looked up in a list of tcpdrop's own, whatever
/// kernel it is.
class TcpDrop final : public DropImporter {
  public:
    TcpDrop() : DropImporter("tcpdrop", "tcpdrop") {}

    std::vector<Note> notes() const override {
        auto notes = DropImporter::notes();
        if (has_reasons_) {
            notes.emplace_back(
                "reasons are the kernel's numbers, named by --release: tcpdrop's own names are those of Linux 6.14");
        }
        add_count(notes, stackless_, "drops have no stack, so no place");
        return notes;
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        if (row(line, sink) || (drop_ && drop_->stack.add(line))) return true;
        const bool is_heading = line.starts_with("TIME ") && line.find("SADDR:SPORT") != line.npos;
        if (line == "Tracing tcp drops. Hit Ctrl-C to end." ||
            (is_heading && (line.find("(FLAGS)") != line.npos || line.ends_with("STATE")))) {
            begin(sink);
            return true;
        }
        return line.starts_with("WARNING: tcp_drop() ");
    }

    bool row(std::string_view line, Sink& sink) {
        if (!base::is_digit(line[0])) return false;
        const auto words = base::words(line);
        constexpr std::size_t without_reason = 8, with_reason = 10;
        const auto count = words.size();
        if (count < 6 || !is_clock(words[0]) || !base::is_decimal(words[1])) return false;
        const bool is_of_bcc = (count == without_reason || count == with_reason) && is_endpoint(words[3]) &&
                               words[4] == ">" && is_endpoint(words[5]) && enclosed(words[7]);
        if (!is_of_bcc && !(is_endpoint(words[count - 3]) && is_endpoint(words[count - 2]))) return false;
        const bool has_reason = is_of_bcc && count == with_reason;
        const auto reason = has_reason ? enclosed(words[9]).value_or("") : "";
        if (has_reason && !base::is_decimal(reason)) return false;
        has_reasons_ |= has_reason;
        open_drop(sink).reason = reason;
        begin(sink);
        return true;
    }

    void close(Sink& sink) override {
        if (drop_ && drop_->stack.place().empty() && !drop_->stack.lacks_place()) ++stackless_;
        DropImporter::close(sink);
    }

    std::int64_t stackless_ = 0;
    bool has_reasons_ = false;
};

}  // namespace

const MakeImporter make_tcpdrop = make_importer<TcpDrop>;

}  // namespace stapgen::decode
