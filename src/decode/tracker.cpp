// SPDX-License-Identifier: GPL-2.0-or-later

#include "decode/importers.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t total = 7;  // among the means
constexpr std::int64_t original_cut_ns = 100'000;

/// The lines of Jacob Leverich's track.stp (memcached, 2013):
///     rx=2181 tcpip_rx=3456 epoll=9876 wait=456 read=789 memcached=4321 tx=6543 total=27622 epoll_return=1013 count=97
/// Means in ns since the start of the script; epoll_return in thousandths of a number. Sent as RunningMeans.
class Tracker final : public Importer {
  public:
    Tracker()
        : Importer("memcached tracker", 1, "memcached-tracker", {"requests"}),
          means_{RunningMean{"rx"},
                 {"tcpip_rx"},
                 {"epoll"},
                 {"wait"},
                 {"read"},
                 {"memcached"},
                 {"tx"},
                 {"total"},
                 {"epoll_return", 0, RunningMean::Unit::thousandths}} {}

    std::vector<Note> notes() const override {
        return {{cut_was_changed_
                     ? "requests above a limit are missing; the limit is unknown, not the original script's 100 us"
                     : "requests above 100 us are missing: the script excludes them from its means"},
                {"the script prints means since its start, so there are no percentiles"},
                {"epoll_return is events per epoll_wait(), for the whole run only: the script does not print the "
                 "number of calls"}};
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        Scan scan{line};
        RunningMeans means{line_number(), 0, means_};
        std::string_view raw;
        for (auto& mean : means_) {
            if (!scan.skip(mean.name) || !scan.skip("=") || !scan.number(mean.value, raw) || !scan.skip(" "))
                return false;
        }
        if (!scan.skip("count=") || !scan.count(means.count)) return false;
        scan.blanks();
        if (!scan.rest.empty()) return false;
        if (means_[total].value > original_cut_ns) cut_was_changed_ = true;
        send(sink, means);
        return true;
    }

    void finished(Sink& sink) override { send(sink, End{unknown_time, {}}); }

    std::array<RunningMean, 9> means_;
    bool cut_was_changed_ = false;  ///< a mean is above the original script's cut
};

}  // namespace

const MakeImporter make_tracker = make_importer<Tracker>;

}  // namespace stapgen::decode
