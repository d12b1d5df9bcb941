// The border between C and C++.
#pragma once

#include <exception>
#include <string>

#include "sidestream/error.hpp"
#include "sidestream/sidestream.h"

namespace sidestream {

/// Nothing may leave a C function as an exception. `problem`, if given, takes the sentence.
template <class Work>
int shielded(std::string* problem, Work&& work) noexcept {
  try {
    return work();
  } catch (const Error& error) {
    if (problem) *problem = error.what();
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    if (problem) *problem = error.what();
    return SIDESTREAM_ERROR_SYSTEM;
  }
}

}  // namespace sidestream
