// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "between/ends.h"
#include "between/join.h"
#include "between/request.h"
#include "between/result.h"

namespace stapgen::between {

/// Which questions hosts have asked for which of their requests. Recordings say it, and are not believed: a question is
/// placed where its host has one such request, at that time, and its program does not hand requests over. `hosts` are
/// sorted by sort_ends(), and outlive it.
class Chains {
  public:
    static constexpr std::size_t most_links = 64;
    static constexpr std::int64_t most_depth = 8;
    static constexpr std::uint32_t no_host = 0xffffffff;

    explicit Chains(const std::vector<Host>& hosts);

    /// One client's requests are those of a server, by numbers of both hosts. Of two servers the first one counts.
    void add(std::size_t client, std::size_t server, const Join& join);

    struct Question {
        std::uint32_t request = 0, end = 0;         ///< of the host's server and client ends
        std::int64_t asked = 0, returned = 0;       ///< within the request's time
        std::uint32_t server = no_host, there = 0;  ///< a request of this host
        std::int64_t served = 0, between = 0;       ///< by that
        bool is_of_joined = false;                  ///< its request is one of a client's, too

        [[nodiscard]] bool is_drawn() const { return is_of_joined && server != no_host; }
    };
    /// By the time they were asked.
    [[nodiscard]] std::span<const Question> of(std::size_t host, std::uint32_t request) const;
    /// Whether any of a host's questions is placed.
    [[nodiscard]] bool has(std::size_t host) const { return !middles_[host].questions.empty(); }
    /// Whom a question is for: a host's name, or where it went.
    [[nodiscard]] std::string server_of(std::size_t host, const Question& question) const;

    /// What was asked for a request, and for these questions, and so on.
    [[nodiscard]] std::vector<ChainLink> links(std::size_t host, std::uint32_t request) const;

    /// What a host asked for the requests of these pairs, as their server, and what it has of each.
    void put_behind(std::size_t host, std::span<const Pair> pairs,
                    const std::function<std::int64_t(const Pair&)>& served, Result& result) const;

    /// Likewise of one.
    void divide(std::size_t host, std::uint32_t number, Request& request) const;

    /// A number for a request and its questions, where a trace has both; else 0.
    [[nodiscard]] std::uint64_t flow_of_request(std::size_t host, std::uint32_t request) const;
    [[nodiscard]] std::uint64_t flow_of_question(std::size_t host, std::uint32_t end) const;

  private:
    struct Middle {
        std::vector<Question> questions{};                              ///< by request and time
        std::vector<std::pair<std::uint32_t, std::uint32_t>> by_end{};  ///< a client's end, its question
        std::vector<NotMeasured> not_placed{};
    };
    void place(const Host& host, Middle& middle) const;
    [[nodiscard]] static const Question* question_at(const Middle& middle, std::uint32_t end);
    struct Group;
    using Done = std::set<std::pair<std::size_t, std::uint32_t>>;
    void follow(std::size_t host, const std::vector<std::uint32_t>& requests, std::int64_t depth, Done& done,
                std::vector<ChainLink>& links) const;

    const std::vector<Host>& hosts_;
    std::vector<Middle> middles_;
};

/// How long any of these was under way. They are in order of time.
class Union {
  public:
    void add(const Chains::Question& question);
    [[nodiscard]] std::int64_t ns() const { return ns_; }

  private:
    std::int64_t ns_ = 0, until_ = 0;
};

}  // namespace stapgen::between
