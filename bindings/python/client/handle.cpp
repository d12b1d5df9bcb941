#include "handle.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "array.hpp"

namespace sidestream_python {

namespace {

/// The format as in the buffer protocol: without one the elements are bytes.
const char* format_of(const Py_buffer& view) { return view.format ? view.format : "B"; }

}  // namespace

Handle::Handle(Session& session, std::string variable, std::int64_t block)
    : session_(session), variable_(std::move(variable)), block_(block) {
  sidestream_session* const open = session.open("get_handle");
  const nb::gil_scoped_release released;  // the call may start the session, together with the other clients
  static_cast<void>(taken(open, sidestream_get_handle(open, variable_.c_str(), block_, &handle_)));
}

bool Handle::is_known(const Py_buffer& view, int component_axis) const {
  return declared_ == session_.declared() && component_axis == component_axis_ &&
         view.ndim == static_cast<int>(shape_.size()) && std::equal(shape_.begin(), shape_.end(), view.shape) &&
         std::equal(strides_.begin(), strides_.end(), view.strides) && format_ == format_of(view);
}

/// Remembers the layout of an array that was accepted and is laid out like the buffer. In both orders such an array is
/// C-contiguous, since the axes of a variable in column order are k, j, i. Components come last.
void Handle::remember(const Py_buffer& view, int component_axis) {
  declared_ = -1;
  const bool last = component_axis < 0 ? component_axis == -1 : component_axis == view.ndim - 1;
  if (!last || view.len == 0 || !PyBuffer_IsContiguous(&view, 'C')) return;
  sidestream_session* const session = session_.open("publish");
  if (sidestream_get_handle(session, variable_.c_str(), block_, &handle_) != SIDESTREAM_OK) return;
  format_ = format_of(view);
  shape_.assign(view.shape, view.shape + view.ndim);
  strides_.assign(view.strides, view.strides + view.ndim);
  component_axis_ = component_axis;
  declared_ = session_.declared();
}

bool Handle::publish(nb::handle array, int component_axis) {
  sidestream_session* const session = session_.open("publish");
  Py_buffer view;
  const bool plain = PyObject_HasAttrString(array.ptr(), "mask") == 0;  // numpy.ma: hidden values are looked for below
  if (plain && declared_ == session_.declared() && PyObject_GetBuffer(array.ptr(), &view, PyBUF_RECORDS_RO) == 0) {
    const Buffer held(view);
    if (is_known(view, component_axis)) {
      const int code =
          session_.letting_others_run([&] { return sidestream_publish_handle(session, handle_, view.buf); });
      return taken(session, code);
    }
  }
  PyErr_Clear();
  const bool whole = session_.publish(variable_.c_str(), block_, array, component_axis);
  if (!whole) return false;
  const Buffer held(array.ptr(), variable_.c_str());
  remember(held.view(), component_axis);
  return true;
}

void add_handles(nb::module_& module, nb::class_<Session>& session) {
  nb::class_<Handle>(module, "Handle")
      .def_prop_ro("variable", &Handle::variable)
      .def_prop_ro("block", &Handle::block)
      .def("publish", &Handle::publish, nb::arg("array").none(), nb::arg("component_axis") = -1);
  session.def(
      "get_handle",
      [](Session& s, std::string variable, std::int64_t block) { return new Handle(s, std::move(variable), block); },
      nb::keep_alive<0, 1>(), nb::rv_policy::take_ownership);
}

}  // namespace sidestream_python
