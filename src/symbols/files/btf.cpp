#include "symbols/files/btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <limits>

namespace stapgen::symbols {

namespace {

// Lengths are bounded wherever a string of the data is read: one string may be all of it and every type may have it.
constexpr std::size_t max_name_length = 128;

bool is_named(const btf* types, const btf_type* type, std::string_view name) {
    const char* its = btf__name_by_offset(types, type->name_off);
    return its != nullptr && std::string_view(its, strnlen(its, name.size() + 1)) == name;
}

}  // namespace

base::Result<Btf> Btf::parse(std::span<const std::byte> data) {
    libbpf_set_print(nullptr);
    errno = EFBIG;
    btf* types = nullptr;
    if (data.size() <= std::numeric_limits<std::uint32_t>::max()) {
        types = btf__new(data.data(), static_cast<std::uint32_t>(data.size()));
    }
    if (types == nullptr) {
        return base::bad_input(
            fmt::format("the kernel's type information (BTF) cannot be read: {}", std::strerror(errno)),
            "it is damaged, cut short or of a kernel newer than this stapgen knows: take another copy of it");
    }
    return Btf({types, btf__free});
}

std::vector<Enumerator> Btf::enumeration(std::string_view name) const {
    std::vector<Enumerator> found;
    for (std::uint32_t id = 1; found.empty() && id < btf__type_cnt(types_.get()); ++id) {
        const btf_type* type = btf__type_by_id(types_.get(), id);
        if (!btf_is_enum(type) || !is_named(types_.get(), type, name)) continue;
        for (const auto& entry : std::span(btf_enum(type), btf_vlen(type))) {
            const char* its = btf__name_by_offset(types_.get(), entry.name_off);
            if (its == nullptr) continue;
            found.push_back({std::string(its, strnlen(its, max_name_length)), static_cast<std::uint32_t>(entry.val)});
        }
    }
    return found;
}

}  // namespace stapgen::symbols
