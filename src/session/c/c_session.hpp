// What stands behind the C handle.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "base/fail.hpp"
#include "session/c/c_shield.hpp"
#include "sidestream/sidestream.h"
#include "sidestream/sidestream.hpp"

struct sidestream_session {
  sidestream::Session session;
  std::string message;  ///< of the last error
};

struct sidestream_memory {
  std::shared_ptr<const void> held;
};

namespace sidestream {

/// The message of the last failed open of this thread: there is no session to keep it in.
std::string& message_without_session();

/// `shielded` for calls on a session, which keeps the sentence; a null session is an error of usage.
template <class Work>
int guarded(sidestream_session* handle, const char* call, Work&& work) noexcept {
  if (!handle) {
    return shielded(&message_without_session(), [&]() -> int {
      fail(Code::usage, "{}: the session is NULL: none was opened, or it is closed", call);
    });
  }
  return shielded(&handle->message, [&] {
    if constexpr (std::is_void_v<decltype(work(handle->session))>) {
      work(handle->session);
      return static_cast<int>(SIDESTREAM_OK);
    } else {
      return static_cast<int>(work(handle->session));
    }
  });
}

[[nodiscard]] inline int code_of(Taken taken) {
  return taken == Taken::refused ? SIDESTREAM_REFUSED : SIDESTREAM_OK;
}

/// A call that may be refused, which leaves a sentence too.
template <class Work>
int publishing(sidestream_session* session, const char* call, Work&& work) noexcept {
  const int code = guarded(session, call, work);
  if (code != SIDESTREAM_REFUSED) return code;
  // Refused it is, also where there is no memory for the sentence.
  static_cast<void>(shielded(&session->message, [&] {
    session->message = std::string(call) + ": " + session->session.refusal();
    return 0;
  }));
  return code;
}

[[nodiscard]] inline Type type_of(const char* call, sidestream_type type) {
  if (type < 0 || type >= type_count) {
    fail(Code::usage, "{}: the type is {}, expected a constant of sidestream.h", call, static_cast<int>(type));
  }
  return static_cast<Type>(type);
}

/// A null pointer is let pass.
[[nodiscard]] inline Values values_of(const char* call, sidestream_type type, const void* data, int64_t count) {
  if (count < 0) fail(Code::usage, "{}: found {} values, expected at least 0", call, count);
  return {type_of(call, type), data, static_cast<std::size_t>(count)};
}

/// Arguments that are wrong in themselves refuse the iteration, as those do that do not fit what is declared: if `work`
/// throws, `fails` is called, a publication that fails.
template <class Work, class Fails>
auto or_refuse(Work&& work, Fails&& fails) {
  try {
    return work();
  } catch (const Error&) {
    try {
      fails();
    } catch (const Error&) {
      // The first sentence is the one that helps.
    }
    throw;
  }
}

/// What no block has.
[[nodiscard]] inline Values impossible_values() {
  return {Type::float64, nullptr, std::numeric_limits<std::size_t>::max()};
}

/// Throws Error(usage) if a required pointer argument is null.
void need(const void* argument, const char* call, const char* name);

}  // namespace sidestream
