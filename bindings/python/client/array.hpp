// Arrays of Python, through the buffer protocol, in the form of sidestream_publish_array and sidestream_alloc_array.
#pragma once

#include <Python.h>
#include <sidestream/sidestream.h>

#include <array>
#include <cstdint>
#include <string>

namespace sidestream_python {

/// A buffer of any strides that somebody else owns, held while it is examined. Needs the GIL.
class Buffer {
 public:
  /// Throws Failure if the object has none; `variable` is for the sentence.
  Buffer(PyObject* object, const char* variable);
  /// Takes ownership of an acquired view.
  explicit Buffer(const Py_buffer& view) : view_(view) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }
  [[nodiscard]] const Py_buffer& view() const noexcept { return view_; }

 private:
  Py_buffer view_{};
};

/// The arguments of sidestream_publish_array: axes in the order i, j, k, component.
struct Arranged {
  sidestream_type type;
  const void* data;
  int rank;
  std::array<std::int64_t, PyBUF_MAX_NDIM> extents, strides;  ///< strides in elements
};

/// Converts axes from NumPy's order: i, j, k for a variable in row order, k, j, i for one in column order, and the axis
/// of components at `component_axis`. Throws Failure in cases that sidestream_publish_array cannot check: the elements
/// have none of our types, or their distances are no multiple of their size.
[[nodiscard]] Arranged arrange(const Py_buffer& view, PyObject* object, const char* variable,
                               const sidestream_description& described, int component_axis);

/// The arguments of sidestream_publish_values: all elements in memory order. Throws Failure if there are gaps between
/// them, or they have none of our types.
struct Flat {
  sidestream_type type;
  const void* data;
  std::int64_t count;
};
[[nodiscard]] Flat flat(const Py_buffer& view, PyObject* object, const char* variable);

/// The layout of a NumPy array over memory from sidestream_alloc_array.
struct Layout {
  std::array<std::size_t, 4> shape;
  std::array<std::int64_t, 4> strides;  ///< in elements
  std::size_t rank;
};
[[nodiscard]] Layout layout_of(const sidestream_block& block, const sidestream_description& described);

/// `(4, 3)`, as Python writes it.
[[nodiscard]] std::string shape_text(const Py_buffer& view);

}  // namespace sidestream_python
