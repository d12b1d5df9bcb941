// Objects of Python that are held, the lock that guards them, and Python's exceptions as ours.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <utility>

#include "sidestream/error.hpp"

namespace sidestream::python {

/// Holds the interpreter's lock. Whoever calls may have it already, or be a thread that Python has never seen. There
/// must be an interpreter.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Gives the lock away, for what waits for other processes.
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

/// A counted reference. All but moving it takes the lock.
class Ref {
 public:
  Ref() = default;
  /// Takes over what a call returned. Throws what Python has raised if that is null.
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
  /// For those who take it over.
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  [[nodiscard]] Ref attribute(const char* name) const { return Ref(PyObject_GetAttrString(object_, name)); }

 private:
  PyObject* object_ = nullptr;
};

[[nodiscard]] Ref text_of(const std::string& text);
/// As UTF-8.
[[nodiscard]] std::string text_of(PyObject* text);

/// Runs the body of a function that Python calls: what it throws becomes an exception of Python, and the result null.
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
