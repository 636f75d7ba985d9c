// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstdint>
#include <string>

#include "base/elf_notes.h"
#include "fakes/system/fake_system.h"
#include "fuzz.h"
#include "host/counter_lines.h"
#include "host/facts.h"
#include "host/host.h"
#include "host/net_counters.h"
#include "host/workarounds.h"

using namespace stapgen;

/// What is read of the machine, each as if it were the input: these files are the kernel's and stap's, but a guest or a
/// container can put anything there.
FUZZ_TARGET(host_texts) {
    const auto text = fuzz::text_of(data, size);
    host::FakeSystem system;
    for (const auto* file :
         {"/sys/kernel/notes", "/proc/kallsyms", "/proc/modules", "/proc/net/netstat", "/proc/net/snmp",
          "/proc/net/snmp6", "/proc/net/softnet_stat", "/proc/sys/kernel/hostname"}) {
        system.files[file] = text;
    }
    const auto identity = host::read_kernel_identity(system);
    fuzz::always(identity.build_id == base::parse_build_id(text));
    fuzz::always(identity.build_id.size() % 2 == 0);
    fuzz::always(identity.build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
    for (const auto& module : host::read_loaded_modules(system))
        fuzz::always(!module.name.empty() && module.base != std::uint64_t{0});

    const auto counters = host::read_net_counters(system);
    host::NetCounters half;
    host::parse_net_counters(text.substr(size / 2), half);
    for (const auto& [name, value] : counters) {
        const auto none = host::difference(counters, counters, name);
        fuzz::always(none && *none == 0);
        const auto rise = host::difference(half, counters, name);
        fuzz::always(rise.has_value() == half.contains(name));
    }

    host::parse_link_answer(text, system.devices);
    host::CounterLines lines(system, "header", "counter");
    fuzz::always(lines.begin().size() == 2 && lines.tick().size() == 1);

    if (const auto version = host::parse_stap_version(text)) {
        fuzz::always(text.find(version->text) != std::string_view::npos);
        fuzz::always(host::parse_version_number(version->text) == *version);
    }
    const auto map = host::system_map_from(text);
    fuzz::always(host::names_functions(map) == !map.empty());
    fuzz::always(host::system_map_from(map) == map);
    return 0;
}
