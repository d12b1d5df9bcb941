// Objects behind the C handles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "session/c/c_analysis.hpp"
#include "sidestream/analysis.h"
#include "sidestream/data/selection.hpp"
#include "sidestream/error.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/base/fail.hpp"
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

/// The message of this thread's last failed open, which leaves no session to store it.
std::string& message_without_session();

/// A pointer that a call needs, and its name in messages.
struct Needed {
  const void* argument;
  const char* name;
};

/// Throws Error(usage) if a required pointer argument is null.
void need(const void* argument, const char* call, const char* name);

/// Runs `shielded` for the object behind a handle, which stores the message. `missing`: the message for a null handle.
/// A null handle and a null argument in `needed` are usage errors.
template <class Handle, class Object, class Work>
int on_handle(Handle* handle, Object Handle::*object, const char* missing, const char* call,
              std::initializer_list<Needed> needed, Work&& work) noexcept {
  if (!handle) {
    return shielded(&message_without_session(), [&]() -> int { fail(Code::usage, "{}: {}", call, missing); });
  }
  return shielded(&handle->message, [&] {
    for (const Needed& one : needed) need(one.argument, call, one.name);
    if constexpr (std::is_void_v<decltype(work(handle->*object))>) {
      work(handle->*object);
      return static_cast<int>(SIDESTREAM_OK);
    } else {
      return static_cast<int>(work(handle->*object));
    }
  });
}

template <class Work>
int guarded(sidestream_session* session, const char* call, std::initializer_list<Needed> needed, Work&& work) noexcept {
  return on_handle(session, &sidestream_session::session, "the session is NULL: none was opened, or it is closed", call,
                   needed, work);
}

[[nodiscard]] inline int code_of(Taken taken) { return taken == Taken::refused ? SIDESTREAM_REFUSED : SIDESTREAM_OK; }

/// Runs a call that may be refused, and stores the reason of a refusal, too.
template <class Work>
int publishing(sidestream_session* session, const char* call, std::initializer_list<Needed> needed,
               Work&& work) noexcept {
  const int code = guarded(session, call, needed, work);
  if (code != SIDESTREAM_REFUSED) return code;
  // The call stays refused even if there is no memory for the message.
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

/// A null pointer is accepted.
[[nodiscard]] inline Values values_of(const char* call, sidestream_type type, const void* data, int64_t count) {
  if (count < 0) fail(Code::usage, "{}: found {} values, expected at least 0", call, count);
  return {type_of(call, type), data, static_cast<std::size_t>(count)};
}

/// Runs a publication. Arguments that are invalid by themselves refuse the iteration, as do those that do not fit the
/// declarations: if `work` throws, calls `fails`, a publication that fails.
template <class Work, class Fails>
auto or_refuse(Work&& work, Fails&& fails) {
  try {
    return work();
  } catch (const Error&) {
    try {
      fails();
    } catch (const Error&) {
      // Keep the first message, which is the helpful one.
    }
    throw;
  }
}

/// Values that fit no block, so that their publication fails.
[[nodiscard]] inline Values impossible_values() {
  return {Type::float64, nullptr, std::numeric_limits<std::size_t>::max()};
}

// The boundary between C and C++.

/// Stores a message. If memory is short it stores a shorter one, which needs no allocation.
inline void say(std::string& message, const char* text) noexcept {
  try {
    message = text;
  } catch (...) {
    constexpr const char* shortest = "out of memory";
    message.assign(shortest, std::min(std::strlen(shortest), message.capacity()));
  }
}

/// Runs `work` and converts exceptions to a code and, unless it is null, a message in `problem`. No exception may leave
/// a C function.
template <class Work>
int shielded(std::string* problem, Work&& work) noexcept {
  const auto failed = [problem](int code, const char* text) {
    if (problem) say(*problem, text);
    return code;
  };
  try {
    return work();
  } catch (const Error& error) {
    return failed(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(SIDESTREAM_ERROR_SYSTEM, "out of memory");
  } catch (const std::exception& error) {
    return failed(SIDESTREAM_ERROR_INTERNAL, error.what());
  } catch (...) {
    return failed(SIDESTREAM_ERROR_INTERNAL, "an exception of unknown type");
  }
}

// Structures that begin with their size: programs and libraries built with an older header have shorter ones.

/// Copies a caller's structure; members that it lacks are zero.
template <class Struct>
[[nodiscard]] Struct taken(const void* given, std::size_t size) noexcept {
  Struct own{};
  std::memcpy(static_cast<void*>(&own), given, std::min(size, sizeof own));
  return own;
}

/// Fills the part of a structure that the caller has.
template <class Struct>
void fill(Struct& to, Struct own) noexcept {
  own.struct_size = to.struct_size;
  std::memcpy(static_cast<void*>(&to), &own, std::min(to.struct_size, sizeof own));
}

}  // namespace sidestream

// Definitions of the opaque structures of analysis.h.
struct sidestream_settings {
  const sidestream::Settings* values;
  const std::vector<sidestream::Option>* options;
  std::deque<std::string>* texts;  ///< owner of texts that were passed to C code
};

struct sidestream_metadata {
  const sidestream::Metadata* metadata;
};

struct sidestream_selection {
  const sidestream::Metadata* metadata;
  sidestream::Selection selection;
  std::string problem;  ///< the first message
};

struct sidestream_bytes {
  sidestream::Bytes bytes;
};

struct sidestream_results {
  sidestream::Results* results;
  sidestream::Communicator* servers;
  std::string problem{};  ///< the last message
};
