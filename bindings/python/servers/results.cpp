// Results from the objects that serving/entry.py makes.
#include <cstring>
#include <string_view>

#include "group.hpp"
#include "runtime.hpp"

namespace sidestream::python {

namespace {

/// Element n of a tuple or list, borrowed.
PyObject* item(PyObject* sequence, Py_ssize_t n) {
  PyObject* const found = PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, n) : PyList_GetItem(sequence, n);
  if (!found) fail_with_exception();
  return found;
}

std::int64_t whole(PyObject* number) {
  const long long value = PyLong_AsLongLong(number);
  if (value == -1 && PyErr_Occurred()) fail_with_exception();
  return value;
}

template <class T>
std::vector<T> numbers_of(PyObject* buffer) {
  const Bytes bytes = bytes_of(buffer);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class Make>
auto vector_of(PyObject* list, Make make) {
  std::vector<decltype(make(list))> made;
  for (Py_ssize_t n = 0; n < PyList_Size(list); ++n) made.push_back(make(item(list, n)));
  return made;
}

std::string as_text(PyObject* object) { return text_of(object); }

/// (name, kind, values)
Column column_of(PyObject* column) {
  const std::string kind = text_of(item(column, 1));
  PyObject* const values = item(column, 2);
  std::string name = text_of(item(column, 0));
  if (kind == "int") return {std::move(name), numbers_of<std::int64_t>(values)};
  if (kind == "real") return {std::move(name), numbers_of<double>(values)};
  return {std::move(name), vector_of(values, as_text)};
}

/// (width, height, bytes)
Image image_of(PyObject* image) {
  return {static_cast<std::int32_t>(whole(item(image, 0))), static_cast<std::int32_t>(whole(item(image, 1))),
          numbers_of<std::uint8_t>(item(image, 2))};
}

/// (name, type, axes, extents, bytes)
DataSet::Array array_of(PyObject* array) {
  DataSet::Array made;
  made.name = text_of(item(array, 0));
  made.type = type_named(text_of(item(array, 1))).value();
  made.axes = vector_of(item(array, 2), as_text);
  made.extents = vector_of(item(array, 3), whole);
  made.values = bytes_of(item(array, 4));
  return made;
}

}  // namespace

void add_results(Results& results, const std::vector<std::string>& files, PyObject* made) {
  for (Py_ssize_t n = 0; n < PyList_Size(made); ++n) {
    PyObject* const one = item(made, n);
    const std::string& file = files.at(static_cast<std::size_t>(whole(item(one, 0))));
    const std::string kind = text_of(item(one, 1));
    PyObject* const contents = item(one, 2);
    if (kind == "table") {
      results.add(file, Table(vector_of(contents, column_of)));
    } else if (kind == "image") {
      results.add(file, image_of(contents));
    } else {
      results.add(file, DataSet{vector_of(contents, array_of), {}});
    }
  }
}

}  // namespace sidestream::python
