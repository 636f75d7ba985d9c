#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct btf;  // of libbpf

namespace stapgen::symbols {

struct Enumerator {
    std::string name;  ///< at most its first 128 bytes
    std::uint32_t value = 0;
};

/// A kernel's type information: /sys/kernel/btf/vmlinux, or section .BTF of a vmlinux; of either byte order. The format
/// is in the kernel's Documentation/bpf/btf.rst.
class Btf {
  public:
    /// Keeps a copy of `data`. Error (bad_input): it is damaged, or newer than libbpf.
    static base::Result<Btf> parse(std::span<const std::byte> data);

    /// What `enum name` lists, in its order. Empty if there is no such enumeration or it is only declared.
    [[nodiscard]] std::vector<Enumerator> enumeration(std::string_view name) const;

  private:
    explicit Btf(std::shared_ptr<btf> types) : types_(std::move(types)) {}
    std::shared_ptr<btf> types_;
};

}  // namespace stapgen::symbols
