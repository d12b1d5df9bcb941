// How a call of the C++ interface begins, and what leaves it.
#pragma once

namespace sidestream {

/// In a handler: throws what was thrown if it is an Error, and otherwise one that says what and in which call.
[[noreturn]] void rethrow_as_error(const char* call);

[[noreturn]] void fail_closed(const char* call);

/// The session behind the pointer; throws Error(usage) if it is closed.
template <class Pointer>
[[nodiscard]] auto& alive(const Pointer& session, const char* call) {
  if (!session) fail_closed(call);
  return *session;
}

/// What its declarations, and what its publications go to.
template <class Pointer>
[[nodiscard]] auto& declaring(const Pointer& session, const char* call) {
  return alive(session, call).declarations(call);
}
template <class Pointer>
[[nodiscard]] auto& publishing(const Pointer& session, const char* call) {
  return alive(session, call).publisher(call);
}

}  // namespace sidestream
