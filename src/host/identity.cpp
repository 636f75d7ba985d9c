#include "host/identity.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstring>

#include "base/text.h"
#include "host/facts.h"

namespace stapgen::host {

std::string parse_build_id(std::string_view notes) {
    // Elf32_Nhdr and Elf64_Nhdr are alike: sizes of name and content, type; both are padded to four bytes.
    constexpr std::size_t head = 12;
    constexpr std::uint32_t build_id = 3;  // NT_GNU_BUILD_ID
    const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    while (notes.size() >= head) {
        std::uint32_t name_size = 0, size = 0, type = 0;
        std::memcpy(&name_size, notes.data(), 4);
        std::memcpy(&size, notes.data() + 4, 4);
        std::memcpy(&type, notes.data() + 8, 4);
        const auto content = head + padded(name_size);
        if (content + size > notes.size()) return {};
        if (type == build_id && notes.substr(head, name_size) == std::string_view("GNU\0", 4)) {
            std::string id;
            for (const char byte : notes.substr(content, size))
                id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
            return id;
        }
        notes.remove_prefix(std::min<std::uint64_t>(content + padded(size), notes.size()));
    }
    return {};
}

std::string host_name(const System& system) {
    return std::string(base::trim(system.read("/proc/sys/kernel/hostname").value_or("")));
}

base::KernelIdentity read_kernel_identity(const System& system) {
    base::KernelIdentity identity;
    identity.release = system.running_release();
    utsname names{};
    if (::uname(&names) == 0) identity.architecture = names.machine;
    identity.build_id = parse_build_id(system.read("/sys/kernel/notes").value_or(""));
    const auto symbols = system.read(kallsyms_file).value_or("");
    // Some 10 MB: only the few lines in question are taken apart.
    const auto find = [&](std::string_view name) -> std::optional<std::uint64_t> {
        const auto ending = fmt::format(" {}\n", name);
        const auto at = symbols.find(ending);
        if (at == std::string::npos) return std::nullopt;
        const auto begin = symbols.rfind('\n', at);
        const auto line = std::string_view(symbols).substr(begin == std::string::npos ? 0 : begin + 1);
        const auto address = base::to_unsigned(line.substr(0, line.find(' ')), 16);
        return address == 0 ? std::nullopt : address;
    };
    identity.text = find("_text");
    identity.stext = find("_stext");
    identity.etext = find("_etext");
    return identity;
}

}  // namespace stapgen::host
