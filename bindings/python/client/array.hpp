// Arrays of Python, through the buffer protocol, as sidestream_publish_array and sidestream_alloc_array know them.
#pragma once

#include <Python.h>
#include <sidestream/sidestream.h>

#include <array>
#include <cstdint>
#include <string>

namespace sidestream_python {

/// A buffer of any strides that somebody else owns, held while it is looked at. Needs the GIL.
class Buffer {
 public:
  /// Throws Failure if the object has none; `variable` is for the sentence.
  Buffer(PyObject* object, const char* variable);
  /// Takes over one that was got.
  explicit Buffer(const Py_buffer& view) : view_(view) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }
  [[nodiscard]] const Py_buffer& view() const noexcept { return view_; }

 private:
  Py_buffer view_{};
};

/// What sidestream_publish_array takes: axes in the order i, j, k, component.
struct Arranged {
  sidestream_type type;
  const void* data;
  int rank;
  std::array<std::int64_t, PyBUF_MAX_NDIM> extents, strides;  ///< strides in elements
};

/// Axes as NumPy has them: i, j, k of a variable in row order, k, j, i of one in column order, and where
/// `component_axis` says one of components. Throws Failure where sidestream_publish_array could not: at elements that
/// are of no type of ours, and not a multiple of their size apart.
[[nodiscard]] Arranged arrange(const Py_buffer& view, PyObject* object, const char* variable,
                               const sidestream_description& described, int component_axis);

/// The argument of sidestream_publish_values: all elements as they lie in memory. Throws Failure where there are gaps
/// between them, or they are of no type of ours.
struct Flat {
  sidestream_type type;
  const void* data;
  std::int64_t count;
};
[[nodiscard]] Flat flat(const Py_buffer& view, PyObject* object, const char* variable);

/// What a NumPy array over memory from sidestream_alloc_array is.
struct Layout {
  std::array<std::size_t, 4> shape;
  std::array<std::int64_t, 4> strides;  ///< in elements
  std::size_t rank;
};
[[nodiscard]] Layout layout_of(const sidestream_block& block, const sidestream_description& described);

/// `(4, 3)`, as Python writes it.
[[nodiscard]] std::string shape_text(const Py_buffer& view);

}  // namespace sidestream_python
