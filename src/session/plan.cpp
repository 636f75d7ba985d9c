// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "filter/filter.h"
#include "host/containers/wanted.h"
#include "host/facts.h"
#include "launch/masked_bytes.h"
#include "recording/identity.h"

namespace stapgen::session {

namespace {

/// The shortest run that is aggregated if nothing else is asked for.
constexpr std::chrono::seconds long_run{60};

void use(Filters& filters, const std::string& option, const std::map<std::string, std::string>& globals) {
    auto& used = filters.used.emplace_back(Filters::Used{option, {}});
    for (const auto& [name, value] : globals) {
        used.parameters.insert(name);
        filters.globals[name] = value;
    }
}

std::map<std::string, std::string> as_typed(const FilterOptions& options) {
    std::map<std::string, std::string> typed;
    const auto put = [&](const char* name, const auto& value) {
        if (value) typed.emplace(name, fmt::format("{}", *value));
    };
    put("target-tid", options.target_tid);
    put("target-pid", options.target_pid);
    put("comm", options.comm);
    put("filter", options.expression);
    put("port", options.port);
    put("addr", options.address);
    put("dev", options.device);
    put("mark", options.mark);
    put("netns", options.netns);
    put("cgroup", options.cgroup);
    put("container", options.container);
    put("pod", options.pod);
    return typed;
}

/// As stap's -x is a process, a process's number given here may be meant so.
void hint_at_process(std::int64_t tid, const host::Process& process, Filters& filters) {
    if (tid != process.pid || process.threads < 2) return;
    filters.hints.push_back(fmt::format(
        "-x {0} measures only the first of the {1} threads of process {0} ({2}); -p {0} measures all of them", tid,
        process.threads, base::printable(process.comm)));
}

base::Result<void> look_at_target(const host::System& machine, const FilterOptions& options, Filters& filters) {
    const bool whole = options.target_pid.has_value();
    const auto process = host::process_of(machine, *filters.target_id, whole);
    if (!process) return tl::make_unexpected(process.error());
    if (!whole) hint_at_process(*filters.target_id, *process, filters);
    filters.target = host::Task::find(machine, *filters.target_id, whole);
    return {};
}

base::Result<void> find_target(const host::System& machine, const FilterOptions& options, bool dry_run,
                               Filters& filters) {
    filters.target_id = options.target_tid ? options.target_tid : options.target_pid;
    if (!filters.target_id) return {};
    if (auto found = look_at_target(machine, options, filters); !found) {
        if (!dry_run) return found;
        filters.hints.push_back(found.error().what);
    }
    // Set for -p only, but a module that does not have it asks for no thread at all.
    filters.used.push_back({options.target_pid ? "--target-pid" : "--target-tid", {"stapgen_target_is_pid"}});
    if (options.target_pid) filters.globals["stapgen_target_is_pid"] = "1";
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

/// What is wrong with it begins with the option.
template <class T>
base::Result<T> of_option(const char* option, base::Result<T> parsed) {
    if (!parsed) parsed.error().what.insert(0, std::string(option) + ": ");
    return parsed;
}

/// --port and --addr are short for expressions; a packet has to pass each of the three.
base::Result<void> use_packet_filter(const FilterOptions& options, Filters& filters) {
    std::vector<std::string> all;
    const char* option = "--filter";
    if (options.port) {
        option = "--port";
        all.push_back(fmt::format("port {}", *options.port));
    }
    if (options.address) {
        option = "--addr";
        const auto address = of_option(option, filter::parse_network(*options.address));
        if (!address) return tl::make_unexpected(address.error());
        all.push_back("net " + address->text());
    }
    if (options.expression) {
        option = "--filter";
        // Alone first: 'tcp) or (udp' is one only with what is put around it.
        if (auto alone = of_option(option, filter::compile(*options.expression)); !alone)
            return tl::make_unexpected(alone.error());
        all.push_back("(" + *options.expression + ")");
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

base::Result<containers::Wanted> wanted_of(const FilterOptions& options, const containers::Machine& machine,
                                           const std::filesystem::path& root) {
    if (options.container) return containers::container_named(machine, *options.container);
    if (options.pod) return containers::pod_named(machine, *options.pod);
    return containers::cgroup_named(root, machine, *options.cgroup);
}

/// With a container the numbers of -x and -p are those of its PID namespace: put instead of them are this machine's.
base::Result<void> use_owner(const std::filesystem::path& root, FilterOptions& options, Filters& filters) {
    if (options.netns) {
        const auto netns = containers::netns_named(root, *options.netns);
        if (!netns) return tl::make_unexpected(netns.error());
        use(filters, "--netns", {{"stapgen_wanted_netns", fmt::to_string(*netns)}});
    }
    const char* option = options.container ? "--container" : options.pod ? "--pod" : "--cgroup";
    if (!options.container && !options.pod && !options.cgroup) return {};
    const auto machine = containers::look_at(root);
    auto wanted = wanted_of(options, machine, root);
    if (!wanted) return tl::make_unexpected(wanted.error());
    std::map<std::string, std::string> globals;
    const auto put = [&](const char* name, const std::vector<std::uint64_t>& numbers) {
        if (!numbers.empty()) globals[name] = fmt::format("{}", fmt::join(numbers, ","));
    };
    put("stapgen_wanted_cgroups", wanted->cgroups);
    put("stapgen_container_netns", wanted->netns);
    use(filters, option, globals);
    std::ranges::move(wanted->hints, std::back_inserter(filters.hints));
    for (auto* id : {&options.target_tid, &options.target_pid}) {
        if (!*id || wanted->containers.empty()) continue;
        const auto task = containers::task_in(root, wanted->containers, **id, id == &options.target_pid);
        if (!task) return tl::make_unexpected(task.error());
        *id = *task;
    }
    return {};
}

}  // namespace

recording::Setup setup_of(const host::System& machine, const MeasurePlan& plan) {
    auto setup = plan.made;
    setup.host = host::host_name(machine);
    setup.machine = host::machine_of(machine);
    setup.labels = plan.labels;
    setup.kernel.release = machine.running_release();
    setup.kernel.build_id = host::running_build_id(machine);
    setup.filters = plan.filters.as_typed;
    setup.command = host::own_command(machine);
    return setup;
}

void put_recipe(const MeasurePlan& plan, const std::string& recipe, recording::Setup& setup) {
    setup.recipe = recipe;
    setup.functions = plan.made.functions;
    setup.definition = recording::definition_of(setup);
}

base::Result<Aggregation> aggregation_of(const recipe::Recipe& recipe, bool asked, const MeasurePlan& plan) {
    if (!recipe.record.aggregates) return Aggregation{};
    const auto option = report::single_records_option(plan.presentation, plan.events);
    if (asked && !option.empty()) {
        return base::bad_input(fmt::format("--aggregate and {0} exclude each other: {0} needs single records", option),
                               "omit one of them");
    }
    if (asked) return Aggregation{true, {}};
    if (!option.empty() || plan.duration.value_or(std::chrono::nanoseconds(0)) < long_run) return Aggregation{};
    return Aggregation{true, plan.quiet ? ""
                                        : "a run of 60 s or more: records are aggregated in the kernel, with the same "
                                          "percentiles and without groups; --events prints every packet, --by thread "
                                          "has groups"};
}

void use_sample(std::int64_t one_in, Filters& filters) {
    if (one_in == 1) return;
    filters.sample = one_in;
    filters.as_typed["sample"] = fmt::to_string(one_in);
    use(filters, "--sample", {{"stapgen_sample", fmt::to_string(one_in)}});
}

base::Result<Filters> filters_of(const host::System& machine, const FilterOptions& typed, bool dry_run,
                                 const std::filesystem::path& root) {
    Filters filters;
    auto options = typed;
    if (auto used = use_owner(root, options, filters); !used) {
        if (!dry_run) return tl::make_unexpected(used.error());
        filters.hints.push_back(used.error().what);
        filters.missing = used.error();
    }
    filters.as_typed = as_typed(options);
    if (auto found = find_target(machine, options, dry_run, filters); !found) return tl::make_unexpected(found.error());
    if (options.comm) {
        if (auto used = use_comm(machine, *options.comm, filters); !used) return tl::make_unexpected(used.error());
    }
    if (auto used = use_packet_filter(options, filters); !used) return tl::make_unexpected(used.error());
    if (options.device) {
        if (auto used = use_device(machine, *options.device, filters); !used) return tl::make_unexpected(used.error());
    }
    if (options.mark) {
        const auto mark = of_option("--mark", launch::masked_mark(*options.mark));
        if (!mark) return tl::make_unexpected(mark.error());
        use(filters, "--mark", mark->globals());
    }
    if (options.sample) {
        if (!std::has_single_bit(static_cast<std::uint64_t>(*options.sample))) {
            return base::bad_input(
                fmt::format("--sample {}: not a power of two", *options.sample),
                fmt::format("for example --sample {}", std::bit_ceil(static_cast<std::uint64_t>(*options.sample))));
        }
        use_sample(*options.sample, filters);
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
