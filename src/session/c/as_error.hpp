// Checks at the beginning of calls of the C++ interface, and translation of their exceptions.
#pragma once

namespace sidestream {

/// Call in a handler. Rethrows an Error; otherwise throws an Error with the exception's text and the name of the call.
[[noreturn]] void rethrow_as_error(const char* call);

[[noreturn]] void fail_closed(const char* call);

/// Returns the session behind the pointer; throws Error(usage) if it is closed.
template <class Pointer>
[[nodiscard]] auto& alive(const Pointer& session, const char* call) {
  if (!session) fail_closed(call);
  return *session;
}

/// The target of the session's declarations, and that of its publications.
template <class Pointer>
[[nodiscard]] auto& declaring(const Pointer& session, const char* call) {
  return alive(session, call).declarations(call);
}
template <class Pointer>
[[nodiscard]] auto& publishing(const Pointer& session, const char* call) {
  return alive(session, call).publisher(call);
}

}  // namespace sidestream
