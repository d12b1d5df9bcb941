// Conversion of MPI's handles to numbers and back.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sidestream_python {

/// A handle is a pointer in some MPI libraries and a number in others.
template <class Handle>
Handle handle_of(std::uintptr_t number) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(number);
  } else {
    return static_cast<Handle>(number);
  }
}

template <class Handle>
std::uintptr_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uintptr_t>(handle);
  }
}

}  // namespace sidestream_python
