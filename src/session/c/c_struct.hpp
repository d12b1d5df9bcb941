// Structures that begin with their size: a program or library built with an older header has shorter ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace sidestream {

/// What a caller gave; members that it does not know are zero.
template <class Struct>
[[nodiscard]] Struct taken(const void* given, std::size_t size) noexcept {
  Struct own{};
  std::memcpy(static_cast<void*>(&own), given, std::min(size, sizeof own));
  return own;
}

/// Fills as much of a caller's structure as there is of it.
template <class Struct>
void fill(Struct& to, Struct own) noexcept {
  own.struct_size = to.struct_size;
  std::memcpy(static_cast<void*>(&to), &own, std::min(to.struct_size, sizeof own));
}

}  // namespace sidestream
