#include "decode/tracker.h"

#include "decode/scan.h"

namespace stapgen::decode {

namespace {
constexpr std::size_t total = 7;  // among the means
constexpr std::int64_t original_cut_ns = 100'000;
}  // namespace

Tracker::Tracker()
    : LineImporter("memcached tracker", 1, make_header("memcached-tracker", {{"requests", 0, {}}})),
      means_{RunningMean{"rx"},
             {"tcpip_rx"},
             {"epoll"},
             {"wait"},
             {"read"},
             {"memcached"},
             {"tx"},
             {"total"},
             {"epoll_return", 0, RunningMean::Unit::thousandths}} {}

bool Tracker::line(std::string_view line, Sink& sink) {
    Scan scan{line};
    RunningMeans means{line_number(), 0, means_};
    std::string_view raw;
    for (auto& mean : means_) {
        if (!scan.skip(mean.name) || !scan.skip("=") || !scan.number(mean.value, raw) || !scan.skip(" ")) return false;
    }
    if (!scan.skip("count=") || !scan.count(means.count)) return false;
    scan.blanks();
    if (!scan.rest.empty()) return false;
    if (means_[total].value > original_cut_ns) cut_was_changed_ = true;
    send(sink, means);
    return true;
}

void Tracker::finished(Sink& sink) {
    send(sink, End{unknown_time, {}});
}

std::vector<Note> Tracker::notes() const {
    return {
        {cut_was_changed_
             ? "requests above a limit are missing, and that is not the original script's 100 us: it is not told"
             : "requests above 100 us are missing: the script leaves them out of its means"},
        {"the script prints means since its start: no percentiles can be had of them"},
        {"epoll_return is events for each epoll_wait(), of the whole only: how many calls there were is not printed"}};
}

}  // namespace stapgen::decode
