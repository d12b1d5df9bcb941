// What leaves a call of the C++ interface.
#pragma once

namespace sidestream {

/// In a handler: throws what was thrown if it is an Error, and otherwise one that says what and in which call.
[[noreturn]] void rethrow_as_error(const char* call);

}  // namespace sidestream
