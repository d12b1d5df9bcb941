// Checks at the beginning of calls of the C++ interface, and translation of their exceptions.
#pragma once

#include <exception>
#include <new>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

/// Call in a handler. Rethrows an Error; otherwise throws an Error with the exception's text and the name of the call.
[[noreturn]] inline void rethrow_as_error(const char* call) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail(Code::system, "{}: the process is out of memory; give it more, or publish less at a time", call);
  } catch (const std::exception& e) {
    fail(Code::internal, "{}: {}", call, e.what());
  } catch (...) {
    fail(Code::internal, "{}: an exception that is not a std::exception", call);
  }
}

[[noreturn]] inline void fail_closed(const char* call) {
  fail(Code::usage, "{}: the session is closed, or was moved from; open another one", call);
}

/// Returns the session behind the pointer; throws Error(usage) if it is closed.
template <class Pointer>
[[nodiscard]] auto& alive(const Pointer& session, const char* call) {
  if (!session) fail_closed(call);
  return *session;
}

/// The object that takes the session's declarations, and the one that takes its publications.
template <class Pointer>
[[nodiscard]] auto& declaring(const Pointer& session, const char* call) {
  return alive(session, call).declarations(call);
}
template <class Pointer>
[[nodiscard]] auto& publishing(const Pointer& session, const char* call) {
  return alive(session, call).publisher(call);
}

}  // namespace sidestream
