// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "base/parallel.h"

namespace stapgen::fleet {

namespace {

constexpr std::string_view unnamed_maker =
    "signed is only what was compiled here, or on a host that is named: --compile-on HOST";

}  // namespace

std::jthread Modules::begin() {
    find_kernels();
    auto left = compile_here();
    pending_ = left.size();
    return std::jthread([this, left = std::move(left)] { compile_elsewhere(left); });
}

void Modules::take_all(Clock::time_point latest) {
    take(latest, [&] { return pending_ == 0; });
}

bool Modules::take_more() {
    return take(Clock::time_point::max(), [&] { return pending_ == 0 || !made_.empty(); });
}

/// Once it `is_enough`, or then. Whether there was something.
bool Modules::take(Clock::time_point latest, const std::function<bool()>& is_enough) {
    std::vector<Made> all;
    {
        std::unique_lock lock(mutex_);
        while (!is_enough() && Clock::now() < latest)
            changed_.wait_for(lock, std::chrono::milliseconds(100));
        all = std::exchange(made_, {});
    }
    for (auto& [kernel, module] : all) {
        if (module) {
            keep(*kernel, *std::move(module));
        } else {
            members_.fail_all(*kernel, module.error());
        }
    }
    return !all.empty();
}

Hosts Modules::ready() const {
    auto hosts = members_.that([](const Row& row) { return !row.refusal && row.state == State::compiling; });
    std::erase_if(hosts, [&](std::size_t host) { return !module_of_.contains(host); });
    return hosts;
}

std::size_t Modules::compilers_at_once() const {
    return std::max<std::size_t>(at_once_ / 2, 1);
}

std::size_t Modules::free_at_once() {
    const std::scoped_lock lock(mutex_);
    return std::max<std::size_t>(at_once_ - std::min(pending_, compilers_at_once()), 1);
}

void Modules::find_kernels() {
    const auto rows = members_.board.rows();
    for (const auto host : members_.alive()) {
        const auto& facts = rows[host].facts;
        kernels_[fmt::format("{} {} {}", facts.release, facts.architecture, facts.build_id)].push_back(host);
        members_.board.set(host, State::compiling);
    }
}

std::vector<Modules::Left> Modules::compile_here() {
    std::vector<const Hosts*> kernels(kernels_.size());
    std::ranges::transform(kernels_, kernels.begin(), [](const auto& kernel) { return &kernel.second; });
    std::vector<base::Result<std::string>> made(kernels.size(), base::failed("ended by the user"));
    base::for_each(base::numbers_below(kernels.size()), base::usable_cpus(), [&](std::size_t at) {
        if (members_.is_ended()) return;
        members_.guarded(*kernels[at], [&] {
            auto file = members_.job.compile(members_.board.row(kernels[at]->front()).facts);
            made[at] = file ? base::read_file(*file) : tl::make_unexpected(file.error());
        });
    });
    std::vector<Left> left;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (!made[i]) left.push_back({kernels[i], made[i].error().what});
        if (made[i]) keep(*kernels[i], {*std::move(made[i]), {}});
    }
    return left;
}

/// Each as it comes: into made_.
void Modules::compile_elsewhere(const std::vector<Left>& left) {
    base::for_each(base::numbers_below(left.size()), compilers_at_once(), [&](std::size_t at) {
        const auto& [kernel, why] = left[at];
        Made one{kernel, tl::make_unexpected(Refusal{})};
        members_.guarded(*kernel, [&] { one.module = compile_elsewhere(*kernel, why); });
        const std::scoped_lock lock(mutex_);
        made_.push_back(std::move(one));
        --pending_;
        changed_.notify_all();
    });
}

/// By the user's word: that others load what it made, and that it is signed.
bool Modules::is_trusted(std::size_t host) const {
    return std::ranges::find(members_.job.compile_on, members_.job.hosts[host]) != members_.job.compile_on.end();
}

/// Each thing that is done with a module is allowed by itself: a host may load its own.
void Modules::keep(const Hosts& kernel, Module made) {
    auto& [content, maker] = made;
    const bool is_trusted_one = !maker || is_trusted(*maker);
    if (!is_trusted_one && (kernel.size() > 1 || kernel.front() != *maker))
        return members_.fail_all(
            kernel, {Refusal::Kind::cannot, "its module was made by a host that --compile-on does not name"});
    if (members_.job.sign && !is_trusted_one)
        return members_.fail_all(kernel, {Refusal::Kind::cannot, "not signed: " + std::string(unnamed_maker)});
    if (members_.job.sign) {
        auto is_signed = members_.job.sign(content, members_.board.row(kernel.front()).facts);
        if (!is_signed) return members_.fail_all(kernel, {Refusal::Kind::cannot, short_reason(is_signed.error().what)});
        content = *std::move(is_signed);
    }
    const auto& module = modules_.emplace_back(sent_file(members_.job.recipe, ".ko", std::move(content)));
    for (const auto host : kernel)
        module_of_.emplace(host, &module);
}

/// On those of its hosts that the user trusts with it; for itself alone on any host. `why` this machine cannot.
Answer<Modules::Module> Modules::compile_elsewhere(const Hosts& kernel, std::string why) {
    bool is_asked = false;
    for (const auto host : kernel) {
        const auto row = members_.board.row(host);
        const bool is_alone = kernel.size() == 1 && !members_.job.sign;
        if (row.facts.stap.empty() || members_.is_ended() || !(is_alone || is_trusted(host))) continue;
        is_asked = true;
        auto built = compile_on(host, row.facts);
        if (built) return Module{*std::move(built), host};
        why += fmt::format("; {}: {}", row.host, built.error().why);
    }
    if (!is_asked && kernel.size() > 1)
        why += "; to have one of these hosts compile for all of them, name it: --compile-on HOST";
    if (!is_asked && kernel.size() == 1 && members_.job.sign) why += fmt::format("; {}", unnamed_maker);
    return tl::make_unexpected(Refusal{Refusal::Kind::cannot, "no module: " + short_reason(why)});
}

Answer<std::string> Modules::compile_on(std::size_t host, const HostFacts& facts) {
    const auto& remote = members_.remotes[host];
    STAPGEN_TRY(members_.send_program(host, facts));
    std::vector<std::string> argv{members_.program_on(facts), "build", members_.job.recipe};
    argv.insert(argv.end(), members_.job.build.begin(), members_.job.build.end());
    std::size_t taken = 0;
    auto built = remote.build(facts, std::move(argv), [&](std::size_t bytes) {
        taken += bytes;
        return (module_bytes_ += bytes) <= base::limits::hosts_module_bytes;
    });
    if (!built) module_bytes_ -= taken;
    return built;
}

}  // namespace stapgen::fleet
