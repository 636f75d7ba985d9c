// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/members.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace stapgen::fleet {

Members::Members(const Job& wanted, const base::HeededSignals& signals)
    : job(wanted), board(wanted.hosts), signals_(signals) {
    for (const auto& host : job.hosts)
        remotes.emplace_back(job.ssh, host, signals);
    for (const auto& [architecture, content] : job.programs)
        programs_.emplace(architecture, sent_file("stapgen", "", content));
}

Hosts Members::that(bool (*is_one)(const Row& row)) const {
    Hosts hosts;
    const auto rows = board.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (is_one(rows[i])) hosts.push_back(i);
    }
    return hosts;
}

Hosts Members::alive() const {
    return that([](const Row& row) { return !row.refusal; });
}

Hosts Members::alive(const Hosts& among) const {
    Hosts hosts;
    std::ranges::set_intersection(among, alive(), std::back_inserter(hosts));
    return hosts;
}

void Members::fail_all(const Hosts& hosts, const Refusal& refusal) {
    for (const auto host : hosts)
        board.change(host, [&](Row& row) {
            if (!row.refusal && row.state != State::done) row.refusal = refusal;
        });
}

void Members::guarded(const Hosts& hosts, const std::function<void()>& work) {
    const auto fail = [&](const char* why) { fail_all(hosts, {Refusal::Kind::failed, short_reason(why)}); };
    try {
        work();
    } catch (const std::bad_alloc&) {
        fail("there is not enough memory here");
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

const SentFile* Members::program_for(const HostFacts& facts) const {
    const auto found = programs_.find(facts.architecture);
    return found == programs_.end() ? nullptr : &found->second;
}

std::string Members::program_on(const HostFacts& facts) const {
    const auto* program = program_for(facts);
    return program == nullptr ? facts.stapgen : facts.folder + "/" + program->name;
}

Answer<void> Members::send_program(std::size_t host, const HostFacts& facts) const {
    const auto* program = program_for(facts);
    return program == nullptr ? Answer<void>() : remotes[host].send(facts, *program);
}

}  // namespace stapgen::fleet
