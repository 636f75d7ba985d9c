// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace stapgen::base {

/// Kinds of failures. exit_codes.h has the exit code of each; only cli ends with it.
enum class ErrorKind {
    failed,       ///< it went wrong while running
    bad_input,    ///< wrong usage or bad input
    regression,   ///< it was done, and the answer is that something became slower, or a host is different
    cannot_here,  ///< this machine cannot do it
    partial,      ///< some of it was done
    over_budget,  ///< the probes took too much of a CPU's time
    no_result,    ///< too little was measured to say
};

/// Every error says what happened and why (`what`), and what to do next (`hint`, may be empty).
struct Error {
    ErrorKind kind = ErrorKind::failed;
    std::string what;
    std::string hint;
};

/// A value or an Error. An alias over tl::expected until the compiler has std::expected with and_then.
template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> failed(std::string what, std::string hint = {}) {
    return tl::make_unexpected(Error{ErrorKind::failed, std::move(what), std::move(hint)});
}
inline tl::unexpected<Error> bad_input(std::string what, std::string hint = {}) {
    return tl::make_unexpected(Error{ErrorKind::bad_input, std::move(what), std::move(hint)});
}
inline tl::unexpected<Error> cannot_here(std::string what, std::string hint = {}) {
    return tl::make_unexpected(Error{ErrorKind::cannot_here, std::move(what), std::move(hint)});
}

}  // namespace stapgen::base

/// Hands the error of a Result on: returns it from this function, if it is one.
#define STAPGEN_TRY(...)                                      \
    if (auto&& stapgen_tried = (__VA_ARGS__); !stapgen_tried) \
    return tl::make_unexpected(std::move(stapgen_tried).error())

/// The same, and declares what the Result's value is put into: STAPGEN_LET(const auto text, base::read_file(path));
#define STAPGEN_LET(declaration, ...) \
    STAPGEN_LET_BY(STAPGEN_LET_NAME(stapgen_result_, __LINE__), declaration, __VA_ARGS__)
#define STAPGEN_LET_NAME(name, line) STAPGEN_LET_JOINED(name, line)
#define STAPGEN_LET_JOINED(name, line) name##line
#define STAPGEN_LET_BY(result, declaration, ...) \
    auto result = __VA_ARGS__;                   \
    STAPGEN_TRY(result);                         \
    declaration = *std::move(result)
