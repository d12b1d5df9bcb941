// Memory for spans of ADIOS2.
//
// A program asks a span for its memory each time, and the span asks the engine inside ADIOS2. For plug-ins that one has
// no memory: it answers with a null pointer, and interface 2 has no call to change that. So the span gets another
// engine to ask: one that answers with the position that the span remembers, and the address is put there. The layout
// of a fresh span is checked before anything is written.
#pragma once

#include <cstddef>
#include <cstring>

namespace sidestream::adios2_engine {

/// The members of a span inside ADIOS2.
template <class T>
struct SpanLayout {
  std::size_t least_and_greatest[2];
  std::size_t position;
  int buffer;
  T value;
  void* engine;
  std::size_t size;
};

/// An object with functions that all answer with their position.
[[nodiscard]] void* answering_engine() noexcept;
/// True if `engine` is ADIOS2's engine for plug-ins.
[[nodiscard]] bool is_plugin_engine(void* engine) noexcept;

/// Gives a span of `size` values its memory. False if the span is none that is known.
template <class T, template <class> class Span>
bool point_span(Span<T>& span, std::byte* memory, std::size_t size) noexcept {
  static_assert(sizeof(span) == sizeof(void*));
  SpanLayout<T>* inside = nullptr;
  std::memcpy(&inside, &span, sizeof(inside));
  if (inside == nullptr) return false;
  if (inside->engine != answering_engine()) {  // a fresh one
    if (inside->size != size || inside->position != 0 || inside->buffer != -1) return false;
    if (!is_plugin_engine(inside->engine)) return false;
  }
  inside->engine = answering_engine();
  inside->position = reinterpret_cast<std::size_t>(memory);
  inside->size = size;
  return true;
}

}  // namespace sidestream::adios2_engine
