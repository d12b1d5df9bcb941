#include "reference.hpp"

namespace sidestream::python {

void fail_with_exception() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* text = value ? PyObject_Str(value) : nullptr;
  const char* bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string said = type ? reinterpret_cast<PyTypeObject*>(type)->tp_name : "no exception";
  // serving/entry.py has already written a full report.
  const bool is_report = type && PyObject_HasAttrString(type, "is_report") != 0;
  if (bytes && *bytes) said = is_report ? std::string(bytes) : said + ": " + bytes;
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  PyErr_Clear();
  throw Error(Code::analysis, said);
}

Ref text_of(const std::string& text) {
  // File names need not be UTF-8.
  return Ref(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

std::string text_of(PyObject* text) {
  const Ref bytes(PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"));
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

}  // namespace sidestream::python
