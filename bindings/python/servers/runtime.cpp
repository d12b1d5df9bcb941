#include "runtime.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "array_view.hpp"
#include "group.hpp"
#include "interpreter.hpp"

namespace sidestream::python {

namespace {

/// Version of the interface between this library and serving/entry.py; grows when they become incompatible.
constexpr long interface_version = 3;

/// The folder of packages: this library lies in the folder of the package, or next to a link to it.
std::string folder_of_packages() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&folder_of_packages), &info) == 0 || !info.dli_fname) return "";
  return std::filesystem::weakly_canonical(info.dli_fname).parent_path().parent_path().string();
}

/// Appends to the path: a package of the program or the environment comes first.
void add_path(const std::string& folder) {
  PyObject* const path = PySys_GetObject("path");  // borrowed
  const Ref entry = text_of(folder);
  if (!path || PySequence_Contains(path, entry.get()) != 0) return PyErr_Clear();
  if (PyList_Append(path, entry.get()) != 0) fail_with_exception();
}

void set(PyObject* module, const char* name, Ref value) {
  if (PyObject_SetAttrString(module, name, value.get()) != 0) fail_with_exception();
}

std::string interpreter_text() {
  PyObject* const executable = PySys_GetObject("executable");  // borrowed
  const std::string where = executable && PyUnicode_Check(executable) ? text_of(executable) : "an unknown place";
  return "Python " PY_VERSION " of " + where;
}

Ref imported() {
  try {
    Ref serving(PyImport_ImportModule("sidestream.serving.entry"));
    if (PyLong_AsLong(serving.attribute("INTERFACE").get()) == interface_version) return serving;
  } catch (const Error& error) {
    throw Error(Code::system, "analyses in Python need the package sidestream and NumPy, which " + interpreter_text() +
                                  " cannot import (" + error.what() +
                                  "); install them there, or name another interpreter in SIDESTREAM_PYTHON");
  }
  throw Error(Code::system, "the package sidestream that " + interpreter_text() +
                                " imports is of another version than this library; install both again");
}

Runtime made() {
  add_path(folder_of_packages());
  Ref module(PyModule_New("sidestream._servers"));
  Ref lent = make_lent_type(), group = make_group_type();
  set(module.get(), "Lent", Ref::to(lent.get()));
  set(module.get(), "Group", Ref::to(group.get()));
  set(module.get(), "mpi_library", mpi_library());
  set(module.get(), "handle_size", mpi_handle_bytes());
  set(module.get(), "started_here", Ref(PyBool_FromLong(started_here())));
  PyObject* const modules = PyImport_GetModuleDict();  // borrowed
  if (PyDict_SetItemString(modules, "sidestream._servers", module.get()) != 0) fail_with_exception();
  return {imported().release(), lent.release(), group.release()};
}

}  // namespace

const Runtime& runtime() {
  static const Runtime loaded = made();
  return loaded;
}

}  // namespace sidestream::python
