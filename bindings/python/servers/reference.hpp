// References to Python objects, the lock that guards them, and conversion of Python's exceptions to ours.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <utility>

#include "sidestream/error.hpp"

namespace sidestream::python {

/// Holds the interpreter's lock. The calling thread may have it already, or be unknown to Python. There must be an
/// interpreter.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Releases the lock while waiting for other processes.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() { PyEval_RestoreThread(state_); }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// Throws Error(analysis) with the text of the exception that Python has raised, and clears it.
[[noreturn]] void fail_with_exception();

/// A counted reference. All operations except moving need the lock.
class Ref {
 public:
  Ref() = default;
  /// Takes ownership of a returned object. If it is null, throws the exception that Python has raised.
  explicit Ref(PyObject* owned) : object_(owned) {
    if (!owned) fail_with_exception();
  }
  [[nodiscard]] static Ref to(PyObject* borrowed) { return Ref(Py_NewRef(borrowed)); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  [[nodiscard]] PyObject* get() const noexcept { return object_; }
  /// Gives up ownership, for callers that take it.
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  [[nodiscard]] Ref attribute(const char* name) const { return Ref(PyObject_GetAttrString(object_, name)); }

 private:
  PyObject* object_ = nullptr;
};

[[nodiscard]] Ref text_of(const std::string& text);
/// The text as UTF-8.
[[nodiscard]] std::string text_of(PyObject* text);

/// Runs the body of a function that Python calls; converts what it throws to an exception of Python and returns null.
template <class Body>
PyObject* called(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "an exception that is not a std::exception");
  }
  return nullptr;
}

}  // namespace sidestream::python
