// What stands behind the C handle.
#pragma once

#include <new>
#include <string>

#include "sidestream/sidestream.h"
#include "sidestream/sidestream.hpp"

struct sidestream_session {
  sidestream::Session session;
  std::string message;  ///< of the last error
};

namespace sidestream {

/// The message of the last failed open of this thread: there is no session to keep it in.
std::string& message_without_session();

/// Runs `work` and turns what it throws into a code and a message. Nothing may leave a C function as an exception.
template <class Work>
int guarded(std::string& message, Work&& work) noexcept {
  try {
    return work();
  } catch (const Error& e) {
    message = e.what();
    return static_cast<int>(e.code());
  } catch (const std::bad_alloc&) {
    message = "out of memory";
    return SIDESTREAM_ERROR_SYSTEM;
  } catch (const std::exception& e) {
    message = e.what();
    return SIDESTREAM_ERROR_INTERNAL;
  } catch (...) {
    message = "an exception of unknown type";
    return SIDESTREAM_ERROR_INTERNAL;
  }
}

/// As above for calls on a session; a null session is an error of usage.
template <class Work>
int guarded(sidestream_session* handle, const char* call, Work&& work) noexcept {
  if (!handle) {
    message_without_session() = std::string(call) + ": the session is NULL; open one first";
    return SIDESTREAM_ERROR_USAGE;
  }
  return guarded(handle->message, [&] {
    if constexpr (std::is_void_v<decltype(work(handle->session))>) {
      work(handle->session);
      return static_cast<int>(SIDESTREAM_OK);
    } else {
      return static_cast<int>(work(handle->session));
    }
  });
}

/// Throws Error(usage) if a required pointer argument is null.
void need(const void* argument, const char* call, const char* name);

}  // namespace sidestream
