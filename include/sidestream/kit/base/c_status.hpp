// Errors of functions that other languages call through C.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

#include "sidestream/error.hpp"

namespace sidestream {

/// Calls `work`. Returns 0, or the code of what it threw, whose sentence goes to the `size` bytes of `message`, if it
/// has any: cut to fit, with a zero at its end.
template <class Work>
[[nodiscard]] int c_status_of(const Work& work, char* message, std::uint64_t size) {
  const auto say = [&](const char* text, Code code) {
    if (size > 0) {
      const std::uint64_t length = std::min<std::uint64_t>(std::strlen(text), size - 1);
      std::memcpy(message, text, length);
      message[length] = 0;
    }
    return static_cast<int>(code);
  };
  try {
    work();
    return 0;
  } catch (const Error& error) {
    return say(error.what(), error.code());
  } catch (const std::exception& error) {
    return say(error.what(), Code::system);
  } catch (...) {
    return say("something was thrown that is no std::exception", Code::system);
  }
}

}  // namespace sidestream
