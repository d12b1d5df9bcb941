// The memory that a put reads, where the program has set it: SetMemorySelection of ADIOS2.
//
// A variable inside ADIOS2 keeps it in two lists, which interface 2 does not show. Their place is found once, in a
// variable made for this: the lists are empty before SetMemorySelection, and have known numbers afterwards.
#pragma once

#include <adios2/cxx/Variable.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "arrays/part.hpp"

namespace sidestream::adios2_engine {

/// The box that is put in an array in memory. Both lists are empty without SetMemorySelection.
struct MemoryBox {
  std::vector<Index> start, size;  ///< for each axis, in the program's order
};

/// Reads the lists of a variable inside ADIOS2. Without any if their place is not known.
[[nodiscard]] MemoryBox memory_box(const void* inside);

template <class T>
[[nodiscard]] MemoryBox memory_box(const adios2::Variable<T>& variable) {
  static_assert(sizeof(variable) == sizeof(void*));
  const void* inside = nullptr;
  std::memcpy(&inside, &variable, sizeof(inside));
  return memory_box(inside);
}

/// Gives a part the strides of its values in memory. Returns the distance of the first one from the program's address,
/// in bytes. Throws Error(usage) if the part does not lie in the array. Both list axes from the slowest.
[[nodiscard]] Index lay_out(arrays::Part& part, const MemoryBox& box);

}  // namespace sidestream::adios2_engine
