// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/serve.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <thread>

#include "base/build_facts.h"
#include "base/process.h"
#include "base/terminal.h"
#include "base/units.h"
#include "host/facts.h"
#include "metrics/otlp.h"
#include "serve/exposition.h"
#include "serve/http_server.h"
#include "serve/otlp_push.h"

namespace stapgen::serve {

namespace {

namespace asio = boost::asio;

class Server {
  public:
    Server(const host::System& machine, const Job& job) : machine_(machine), job_(job), limit_(job.max_series) {
        for (const auto& recipe : job.recipes)
            runners_.push_back(std::make_unique<Runner>(recipe, machine, limit_, stop_));
    }

    base::Result<void> listen() {
        STAPGEN_LET(auto http, HttpServer::listen(context_, job_.listen, host::host_name(machine_),
                                                  [this](auto path, auto accept) { return answer(path, accept); }));
        http_ = std::move(http);
        base::print_message(
            fmt::format("metrics are at http://{}/metrics; Ctrl-C ends it", text_of(http_->endpoint())));
        return {};
    }

    /// Errors: no recipe can be measured here.
    base::Result<void> run() {
        heed_signals();
        if (job_.otlp) push_ = OtlpPush::start(context_, *job_.otlp, job_.push_times, [this] { return otlp_body(); });
        Threads threads(*this);
        threads.start();
        for (;;) {
            try {
                context_.run();
                if (!none_can_) return {};
                return base::cannot_here("no recipe can be measured here",
                                         "see the reasons above, and stapgen doctor RECIPE");
            } catch (const std::exception& error) {
                // One request had no memory or no descriptor: the next one may have.
                base::print_message(error.what());
            }
        }
    }

  private:
    /// One for each runner. However they are left, they end before what they work with.
    class Threads {
      public:
        explicit Threads(Server& server) : server_(server) {}
        void start() {
            server_.running_ = server_.runners_.size();
            for (auto& runner : server_.runners_) {
                threads_.emplace_back([&server = server_, &runner] {
                    runner->run();
                    asio::post(server.context_, [&server] { server.end_runner(); });
                });
            }
        }
        Threads(const Threads&) = delete;
        Threads& operator=(const Threads&) = delete;
        ~Threads() {
            ++server_.stop_;
            for (auto& thread : threads_)
                thread.join();
        }

      private:
        Server& server_;
        std::vector<std::thread> threads_;
    };

    void heed_signals() {
        if (const int count = signals_.count(); count > stop_ && stop_.exchange(count) == 0)
            base::print_message("ending");
        if (stop_ == 0 && std::ranges::all_of(runners_, [](const auto& runner) { return runner->cannot_begin(); })) {
            none_can_ = true;
            stop_ = 1;
        }
        look_again_.expires_after(std::chrono::milliseconds(100));
        look_again_.async_wait([this](boost::system::error_code error) {
            if (!error) heed_signals();
        });
    }
    void end_runner() {
        if (--running_ > 0) return;
        if (!push_) return context_.stop();
        push_->finish([this] { context_.stop(); });
    }

    [[nodiscard]] std::vector<Status> statuses() const {
        std::vector<Status> all;
        for (const auto& runner : runners_)
            all.push_back(runner->status());
        return all;
    }

    [[nodiscard]] metrics::Families families() const {
        const ServerStatus server{.version = base::build_facts.version,
                                  .revision = base::build_facts.revision,
                                  .kernel = machine_.running_release(),
                                  .start_ns = start_ns_,
                                  .use = host::use_of_process(machine_, ::getpid()),
                                  .series = limit_.taken(),
                                  .max_series = limit_.most(),
                                  .push = push_ ? push_->status() : PushStatus()};
        return families_of(server, statuses());
    }
    [[nodiscard]] std::string otlp_body() const {
        return metrics::otlp_request(families(), {.resource = {{"service.name", "stapgen"},
                                                               {"service.version", base::build_facts.version},
                                                               {"host.name", host::host_name(machine_)},
                                                               {"host.id", host::machine_of(machine_)}},
                                                  .version = base::build_facts.version,
                                                  .start_ns = start_ns_,
                                                  .now_ns = base::now_epoch_ns()});
    }

    [[nodiscard]] Reply answer(std::string_view path, std::string_view accept) const {
        Reply reply;
        if (path == "/metrics") {
            const auto exposition = exposition_for(accept);
            reply.type = content_type_of(exposition);
            reply.body = written(families(), exposition, start_ns_, job_.native_schema);
        } else if (path == "/" || path == "/-/ready") {
            reply.body = fmt::format("stapgen {}: /metrics\n", base::build_facts.version);
            for (const auto& status : statuses()) {
                reply.body +=
                    fmt::format("{}: {}{}\n", status.recipe, state_names.at(static_cast<std::size_t>(status.state)),
                                status.state == State::waiting ? ", " + status.why : "");
                if (path != "/" && status.state != State::measuring) reply.status = 503;
            }
        } else if (path == "/-/healthy") {
            reply.body = "healthy\n";
        } else {
            reply.status = 404;
            reply.body = "/metrics, /-/healthy, /-/ready\n";
        }
        return reply;
    }

    const host::System& machine_;
    const Job& job_;
    const std::int64_t start_ns_ = base::now_epoch_ns();
    std::atomic<int> stop_ = 0;
    bool none_can_ = false;
    SeriesLimit limit_;
    std::vector<std::unique_ptr<Runner>> runners_;
    std::size_t running_ = 0;
    asio::io_context context_;
    base::HeededSignals signals_;
    asio::steady_timer look_again_{context_};
    std::shared_ptr<HttpServer> http_;
    std::shared_ptr<OtlpPush> push_;
};

}  // namespace

base::Result<void> serve(const host::System& machine, const Job& job) {
    // Said here, it stays so. Else glibc raises it to the largest block that was freed, takes the next ones from a
    // thread's heap, and keeps them: 20 MB of the kernel's symbols, which are read when a drop's place is new.
    ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
    Server server(machine, job);
    if (auto listens = server.listen(); !listens) return listens;
    return server.run();
}

}  // namespace stapgen::serve
