#include "array.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "failure.hpp"

namespace sidestream_python {

namespace {

constexpr const char* known = "int8 to int64, uint8 to uint64, float32 or float64";

/// str(object.attribute), or an empty string.
std::string attribute_text(PyObject* object, const char* attribute) {
  PyObject* value = PyObject_GetAttrString(object, attribute);
  PyObject* text = value ? PyObject_Str(value) : nullptr;
  const char* bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string found = bytes ? bytes : "";
  Py_XDECREF(text);
  Py_XDECREF(value);
  PyErr_Clear();
  return found;
}

/// The element type as NumPy names it, or else as the buffer protocol does.
std::string dtype_text(PyObject* object, const Py_buffer& view) {
  const std::string dtype = attribute_text(object, "dtype");
  return dtype.empty() ? "format '" + std::string(view.format ? view.format : "B") + "'" : "dtype " + dtype;
}

std::string of(const char* variable) { return "publish: the array for '" + std::string(variable) + "'"; }

constexpr bool little = std::endian::native == std::endian::little;

bool is_foreign(char prefix) { return prefix == (little ? '>' : '<') || (little && prefix == '!'); }

/// The type for a letter of the struct module.
std::optional<sidestream_type> type_of(char letter, Py_ssize_t bytes) {
  const int power = std::bit_width(static_cast<unsigned>(bytes)) - 1;  // 1, 2, 4, 8: 0 to 3
  if (!letter || bytes > 8 || bytes != (1 << power)) return std::nullopt;
  if (std::strchr("bhilqn", letter)) return static_cast<sidestream_type>(SIDESTREAM_INT8 + power);
  if (std::strchr("BHILQN", letter)) return static_cast<sidestream_type>(SIDESTREAM_UINT8 + power);
  if (letter == 'f') return SIDESTREAM_FLOAT32;
  if (letter == 'd') return SIDESTREAM_FLOAT64;
  return std::nullopt;
}

sidestream_type type_of(const Py_buffer& view, PyObject* object, const char* variable) {
  const char* format = view.format ? view.format : "B";
  const char prefix = std::strchr("@=<>!|", *format) ? *format : '\0';
  if (prefix) ++format;
  const auto type = format[0] && !format[1] ? type_of(format[0], view.itemsize) : std::nullopt;
  if (!type) {
    misuse(of(variable) + " has elements of " + dtype_text(object, view) + ", expected one of " + known +
           (format[0] == '?' ? "; publish array.view(numpy.uint8)" : "; convert it with array.astype"));
  }
  if (is_foreign(prefix) && view.itemsize > 1) {
    misuse(
        of(variable) + " has elements of " + dtype_text(object, view) +
        ", which is not the byte order of this machine; convert it with array.astype(array.dtype.newbyteorder('='))");
  }
  return *type;
}

using Axes = std::array<int, PyBUF_MAX_NDIM>;

/// The axes of the array in the order i, j, k, component.
Axes axes_of(const Py_buffer& view, const char* variable, const sidestream_description& described, int component_axis) {
  Axes axes;
  const bool has_components = view.ndim == described.axes + 1;
  const int component = component_axis < 0 ? component_axis + view.ndim : component_axis;
  if (has_components && (component < 0 || component >= view.ndim)) {
    misuse(of(variable) + " has " + std::to_string(view.ndim) + " axes, and component_axis is " +
           std::to_string(component_axis) + "; name one of its axes");
  }
  auto end = axes.begin();
  for (int axis = 0; axis < view.ndim; ++axis) {
    if (!has_components || axis != component) *end++ = axis;
  }
  if (described.order == SIDESTREAM_COLUMN) std::reverse(axes.begin(), end);
  if (has_components) *end = component;
  return axes;
}

/// Number of values that an array of numpy.ma hides; 0 for any other.
long hidden_values(PyObject* object) {
  if (!PyObject_HasAttrString(object, "mask") || !PyObject_HasAttrString(object, "filled")) return 0;
  PyObject* mask = PyObject_GetAttrString(object, "mask");
  PyObject* sum = mask ? PyObject_CallMethod(mask, "sum", nullptr) : nullptr;
  PyObject* number = sum ? PyNumber_Long(sum) : nullptr;
  const long hidden = number ? PyLong_AsLong(number) : 0;
  Py_XDECREF(number);
  Py_XDECREF(sum);
  Py_XDECREF(mask);
  PyErr_Clear();
  return hidden;
}

/// Advice on how to turn an object that is no array into one.
const char* way_to_an_array(PyObject* object) {
  if (PyObject_HasAttrString(object, "to_numpy")) return "; pass the NumPy array in it: array.to_numpy()";
  return "; pass a NumPy array";
}

}  // namespace

Buffer::Buffer(PyObject* object, const char* variable) {
  if (const long hidden = hidden_values(object); hidden > 0) {
    misuse(of(variable) + " hides " + std::to_string(hidden) +
           " values (numpy.ma), which would be published as what lies under the mask; pass array.filled(value), with "
           "nan, for instance, where there is nothing");
  }
  if (PyObject_GetBuffer(object, &view_, PyBUF_RECORDS_RO) == 0) return;
  PyErr_Clear();
  const std::string dtype = attribute_text(object, "dtype");
  misuse(of(variable) + " is " + (dtype.empty() ? "" : "of dtype " + dtype + ", ") + "of " +
         std::string(Py_TYPE(object)->tp_name) + ", which is no array in the host's memory of " + known +
         way_to_an_array(object));
}

Arranged arrange(const Py_buffer& view, PyObject* object, const char* variable, const sidestream_description& described,
                 int component_axis) {
  Arranged made;
  made.type = type_of(view, object, variable);
  made.data = view.buf;
  made.rank = view.ndim;
  const Axes axes = axes_of(view, variable, described, component_axis);
  bool fits = true;
  for (std::size_t n = 0; n < static_cast<std::size_t>(view.ndim); ++n) {
    const int axis = axes[n];
    made.extents[n] = view.shape[axis];
    const bool counts = view.shape[axis] > 1;
    made.strides[n] = counts ? view.strides[axis] / view.itemsize : 0;
    if (counts && view.strides[axis] % view.itemsize != 0) fits = false;
  }
  if (!fits) {
    misuse(of(variable) + " has elements that are not a multiple of their size apart; pass array.copy(), or give the " +
           "structured array that it is a field of a dtype with align=True");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(view.buf);
  if (view.len > 0 && address % static_cast<std::size_t>(view.itemsize) != 0) {
    misuse(of(variable) + " is not aligned: it begins at an address that is no multiple of " +
           std::to_string(view.itemsize) + " bytes, the size of its elements; pass array.copy()");
  }
  return made;
}

Flat flat(const Py_buffer& view, PyObject* object, const char* variable) {
  const Flat made{type_of(view, object, variable), view.buf, static_cast<std::int64_t>(view.len / view.itemsize)};
  if (!PyBuffer_IsContiguous(&view, 'A')) {
    misuse(of(variable) + " has gaps between its elements; pass array.copy(), or use publish, which takes strides");
  }
  return made;
}

Layout layout_of(const sidestream_block& block, const sidestream_description& described) {
  Layout made{};
  const auto axes = static_cast<std::size_t>(described.axes);
  for (std::size_t n = 0; n < axes; ++n) {
    const std::size_t axis = described.order == SIDESTREAM_COLUMN ? axes - 1 - n : n;
    made.shape[n] = static_cast<std::size_t>(block.hi[axis] - block.lo[axis]);
    made.strides[n] = block.strides[axis];
  }
  made.rank = axes;
  if (described.components > 1) {
    made.shape[axes] = static_cast<std::size_t>(described.components);
    made.strides[axes] = block.strides[3];
    ++made.rank;
  }
  return made;
}

std::string shape_text(const Py_buffer& view) {
  std::string text = "(";
  for (int n = 0; n < view.ndim; ++n) text += (n ? ", " : "") + std::to_string(view.shape[n]);
  return text + (view.ndim == 1 ? ",)" : ")");
}

}  // namespace sidestream_python
