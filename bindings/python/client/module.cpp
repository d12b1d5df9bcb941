// The module sidestream._client. It is thin: names, defaults and types for readers are in session.py.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "handle.hpp"
#include "restart.hpp"
#include "session.hpp"

namespace {

using namespace sidestream_python;

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

/// A message as Python's text. Paths in it may not be UTF-8.
nb::object text_of(const std::string& message) {
  return nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    const nb::object error = nb::module_::import_("sidestream.errors").attr("Error");
    PyErr_SetObject(error.ptr(), nb::make_tuple(text_of(failure.message), failure.code).ptr());
  }
}

}  // namespace

NB_MODULE(_client, module) {
  nb::register_exception_translator(translate);
  module.def("mpi_library", mpi_library);
  module.attr("handle_size") = sizeof(MPI_Comm);
  module.attr("version") = SIDESTREAM_VERSION;
  nb::class_<Session> session(module, "Session");
  session
      .def(
          "__init__",
          [](Session* made, std::uintptr_t comm, const std::optional<nb::bytes>& given, bool is_text) {
            const auto text = given ? std::optional<std::string>({given->c_str(), given->size()}) : std::nullopt;
            new (made) Session(comm, text, is_text);
          },
          nb::arg("comm"), nb::arg("given").none(), nb::arg("is_text"))
      .def_prop_ro("is_open", &Session::is_open)
      .def_prop_ro("is_server", &Session::is_server)
      .def_prop_ro("should_end", &Session::should_end)
      .def_prop_ro("comm", &Session::comm)
      .def_prop_ro("message", [](const Session& s) { return text_of(s.message()); })
      .def_prop_ro("address", &Session::address)
      .def("serve", &Session::serve)
      .def("account", &Session::account)
      .def("close", &Session::close)
      .def("start", &Session::start)
      .def("publish", &Session::publish, nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def("publish_values", &Session::publish_values, nb::arg(), nb::arg(), nb::arg().none())
      .def("publish_components", &Session::publish_components)
      .def("alloc", &Session::alloc)
      .def("commit", &Session::commit)
      .def("clear", &Session::clear)
      .def("signal", &Session::signal)
      .def("signal_values", [](Session& s, const char* event, int scope, int type, const nb::bytes& values,
                               std::int64_t count) { s.signal_values(event, scope, type, values.c_str(), count); })
      .def("signal_barrier", &Session::signal_barrier)
      .def("is_needed", &Session::is_needed, nb::arg(), nb::arg().none())
      .def("get_int", &Session::get_int)
      .def("get_real", &Session::get_real)
      .def("end_iteration", &Session::end_iteration);
  add_declarations(session);
  add_handles(module, session);
  add_restart(module);
}
