// Failure of a call, to be converted to sidestream.Error.
#pragma once

#include <sidestream/sidestream.h>

#include <string>
#include <utility>

namespace sidestream_python {

/// A code of sidestream.h and its sentence; the module converts it to sidestream.Error.
struct Failure {
  int code;
  std::string message;
};

[[noreturn]] inline void misuse(std::string message) { throw Failure{SIDESTREAM_ERROR_USAGE, std::move(message)}; }

/// Throws if the code is an error. Returns true if taken, false if refused.
inline bool taken(const sidestream_session* session, int code) {
  if (SIDESTREAM_FAILED(code)) throw Failure{code, sidestream_message(session)};
  return code == SIDESTREAM_OK;
}

}  // namespace sidestream_python
