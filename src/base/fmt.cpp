// SPDX-License-Identifier: GPL-2.0-or-later
// fmt itself, compiled once. Debian has it as a shared library only, and a header-only one takes three seconds in every
// file that formats anything.
#include <fmt/format-inl.h>

// Templates that fmt's headers declare, but do not define.
FMT_BEGIN_NAMESPACE
namespace detail {
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);  // from fmt 10 on
#if FMT_VERSION / 10000 == 10
template void vformat_to(buffer<char>&, string_view, vformat_args<char>::type, locale_ref);
#endif
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
}  // namespace detail
FMT_END_NAMESPACE
