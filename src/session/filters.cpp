// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/filters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "filter/filter.h"
#include "host/containers/wanted.h"
#include "host/facts.h"
#include "launch/masked_bytes.h"

namespace stapgen::session {

using recording::TypedFilters;

namespace {

void use(Filters& filters, const std::string& option, const std::map<std::string, std::string>& globals) {
    auto& used = filters.used.emplace_back(Filters::Used{option, {}});
    for (const auto& [name, value] : globals) {
        used.parameters.insert(name);
        filters.globals[name] = value;
    }
}

constexpr std::string_view tid_option = "target-tid", pid_option = "target-pid";

/// Null where it was not typed.
const std::string* value_of(const TypedFilters& typed, std::string_view option) {
    const auto found = typed.find(std::string(option));
    return found == typed.end() ? nullptr : &found->second;
}

base::Result<std::optional<std::int64_t>> number_of(const TypedFilters& typed, std::string_view option) {
    const auto* value = value_of(typed, option);
    if (value == nullptr) return std::nullopt;
    if (const auto number = base::to_int(*value)) return number;
    return base::bad_input(fmt::format("--{}: '{}' is not a whole number", option, base::printable(*value)));
}

/// As stap's -x is a process, a process's number given here may be meant so.
void hint_at_process(std::int64_t tid, const host::Process& process, Filters& filters) {
    if (tid != process.pid || process.threads < 2) return;
    filters.hints.push_back(fmt::format(
        "-x {0} measures only the first of the {1} threads of process {0} ({2}); -p {0} measures all of them", tid,
        process.threads, base::printable(process.comm)));
}

/// `whole`: the process, not the thread.
base::Result<void> look_at_target(const host::System& machine, bool whole, Filters& filters) {
    STAPGEN_LET(const auto process, host::process_of(machine, *filters.target_id, whole));
    if (!whole) hint_at_process(*filters.target_id, process, filters);
    filters.target = host::Task::find(machine, *filters.target_id, whole);
    return {};
}

base::Result<void> find_target(const host::System& machine, bool dry_run, Filters& filters) {
    const auto tid = number_of(filters.as_typed, tid_option), pid = number_of(filters.as_typed, pid_option);
    for (const auto& number : {tid, pid}) {
        STAPGEN_TRY(number);
    }
    filters.target_id = *tid ? *tid : *pid;
    if (!filters.target_id) return {};
    const bool whole = pid->has_value();
    if (auto found = look_at_target(machine, whole, filters); !found) {
        if (!dry_run) return found;
        filters.hints.push_back(found.error().what);
    }
    // Set for -p only, but a module that does not have it asks for no thread at all.
    filters.used.push_back({whole ? "--target-pid" : "--target-tid", {"stapgen_target_is_pid"}});
    if (whole) filters.globals["stapgen_target_is_pid"] = "1";
    return {};
}

base::Result<void> use_comm(const host::System& machine, const std::string& comm, Filters& filters) {
    if (comm.empty()) return base::bad_input("--comm: the name is empty", "'ps -eLo comm' lists the names");
    use(filters, "--comm", launch::masked_name(comm).globals("comm"));
    if (!host::is_thread_named(machine, comm)) {
        filters.hints.push_back(
            fmt::format("no thread is named '{}' now; later ones will be measured", base::printable(comm)));
    }
    return {};
}

base::Result<void> use_device(const host::System& machine, const std::string& name, Filters& filters) {
    // As the kernel's dev_valid_name.
    const bool valid = !name.empty() && name.size() < 16 && name != "." && name != ".." &&
                       name.find_first_of("/: \t\n\v\f\r") == std::string::npos;
    if (!valid) {
        return base::bad_input(fmt::format("--dev: '{}' is not a network device's name", base::printable(name)),
                               "a name has 1 to 15 bytes, no blanks, no '/' and no ':'; 'ip link' lists the devices of "
                               "this network namespace");
    }
    use(filters, "--dev", launch::masked_name(name).globals("dev"));
    const auto devices = host::network_devices(machine);
    if (std::ranges::find(devices, name, &host::NetworkDevice::name) == devices.end()) {
        filters.hints.push_back(
            fmt::format("no network device is named '{}' in this network namespace; later ones, and those of other "
                        "namespaces, will be measured",
                        base::printable(name)));
    }
    return {};
}

/// The error begins with the option.
template <class T>
base::Result<T> of_option(const char* option, base::Result<T> parsed) {
    if (!parsed) parsed.error().what.insert(0, std::string(option) + ": ");
    return parsed;
}

/// --port and --addr are short for expressions; a packet has to pass each of the three.
base::Result<void> use_packet_filter(const TypedFilters& typed, Filters& filters) {
    std::vector<std::string> all;
    const char* option = "--filter";
    if (const auto* port = value_of(typed, "port")) {
        option = "--port";
        all.push_back("port " + *port);
    }
    if (const auto* network = value_of(typed, "addr")) {
        option = "--addr";
        STAPGEN_LET(const auto address, of_option(option, filter::parse_network(*network)));
        all.push_back("net " + address.text());
    }
    if (const auto* expression = value_of(typed, "filter")) {
        option = "--filter";
        // Alone first: 'tcp) or (udp' is one only with what is put around it.
        STAPGEN_TRY(of_option(option, filter::compile(*expression)));
        all.push_back("(" + *expression + ")");
    }
    if (all.empty()) return {};
    const auto together = fmt::format("{}", fmt::join(all, " and "));
    const auto program = filter::compile(together);
    if (!program) {
        return base::bad_input(fmt::format("{}: combined with the other options: {}", option, program.error().what),
                               program.error().hint);
    }
    use(filters, option, {{"stapgen_filter", filter::parameter_of(*program)}});
    return {};
}

/// With a container the numbers of -x and -p are those of its PID namespace: put instead of them are this machine's.
base::Result<void> use_owner(const std::filesystem::path& root, Filters& filters) {
    auto& typed = filters.as_typed;
    if (const auto* name = value_of(typed, "netns")) {
        STAPGEN_LET(const auto netns, containers::netns_named(root, *name));
        use(filters, "--netns", {{"stapgen_wanted_netns", fmt::to_string(netns)}});
    }
    const auto* container = value_of(typed, "container");
    const auto* pod = value_of(typed, "pod");
    const auto* cgroup = value_of(typed, "cgroup");
    if (container == nullptr && pod == nullptr && cgroup == nullptr) return {};
    const auto machine = containers::look_at(root);
    STAPGEN_LET(auto wanted, container != nullptr ? containers::container_named(machine, *container)
                             : pod != nullptr     ? containers::pod_named(machine, *pod)
                                                  : containers::cgroup_named(root, machine, *cgroup));
    std::map<std::string, std::string> globals;
    const auto put = [&](const char* name, const std::vector<std::uint64_t>& numbers) {
        if (!numbers.empty()) globals[name] = fmt::format("{}", fmt::join(numbers, ","));
    };
    put("stapgen_wanted_cgroups", wanted.cgroups);
    put("stapgen_container_netns", wanted.netns);
    use(filters, container != nullptr ? "--container" : pod != nullptr ? "--pod" : "--cgroup", globals);
    std::ranges::move(wanted.hints, std::back_inserter(filters.hints));
    for (const std::string_view option : {tid_option, pid_option}) {
        STAPGEN_LET(const auto number, number_of(typed, option));
        if (!number || wanted.containers.empty()) continue;
        STAPGEN_LET(const auto task, containers::task_in(root, wanted.containers, *number, option == pid_option));
        typed[std::string(option)] = fmt::to_string(task);
    }
    return {};
}

}  // namespace

void use_sample(std::int64_t one_in, Filters& filters) {
    filters.sample = one_in;
    // One in one is what is measured without it.
    filters.as_typed.erase("sample");
    if (one_in == 1) return;
    filters.as_typed["sample"] = fmt::to_string(one_in);
    use(filters, "--sample", {{"stapgen_sample", fmt::to_string(one_in)}});
}

base::Result<Filters> filters_of(const host::System& machine, const TypedFilters& typed, bool dry_run,
                                 const std::filesystem::path& root) {
    Filters filters;
    filters.as_typed = typed;
    if (auto used = use_owner(root, filters); !used) {
        if (!dry_run) return tl::make_unexpected(used.error());
        filters.hints.push_back(used.error().what);
        filters.missing = used.error();
    }
    STAPGEN_TRY(find_target(machine, dry_run, filters));
    if (const auto* comm = value_of(typed, "comm")) {
        STAPGEN_TRY(use_comm(machine, *comm, filters));
    }
    STAPGEN_TRY(use_packet_filter(typed, filters));
    if (const auto* device = value_of(typed, "dev")) {
        STAPGEN_TRY(use_device(machine, *device, filters));
    }
    if (const auto* value = value_of(typed, "mark")) {
        STAPGEN_LET(const auto mark, of_option("--mark", launch::masked_mark(*value)));
        use(filters, "--mark", mark.globals());
    }
    STAPGEN_LET(const auto sample, number_of(typed, "sample"));
    if (sample) {
        if (!std::has_single_bit(static_cast<std::uint64_t>(*sample))) {
            return base::bad_input(
                fmt::format("--sample {}: not a power of two", *sample),
                fmt::format("for example --sample {}", std::bit_ceil(static_cast<std::uint64_t>(*sample))));
        }
        use_sample(*sample, filters);
    }
    return filters;
}

base::Result<void> check_module_has(const Filters& filters, const std::string& file, const launch::ModuleInfo& info) {
    for (const auto& [option, parameters] : filters.used) {
        if (std::ranges::includes(info.parameters, parameters)) continue;
        return base::bad_input(
            fmt::format("{} cannot be filtered by {}: its recipe does not have that filter", file, option),
            fmt::format("omit {}, or build a recipe that has this option", option));
    }
    return {};
}

}  // namespace stapgen::session
