// What fails in a call, on its way to sidestream.Error.
#pragma once

#include <sidestream/sidestream.h>

#include <string>
#include <utility>

namespace sidestream_python {

/// A code of sidestream.h and its sentence; the module turns it into sidestream.Error.
struct Failure {
  int code;
  std::string message;
};

[[noreturn]] inline void misuse(std::string message) { throw Failure{SIDESTREAM_ERROR_USAGE, std::move(message)}; }

/// Throws if the code is one of an error; true: taken, false: refused.
inline bool taken(const sidestream_session* session, int code) {
  if (SIDESTREAM_FAILED(code)) throw Failure{code, sidestream_message(session)};
  return code == SIDESTREAM_OK;
}

}  // namespace sidestream_python
