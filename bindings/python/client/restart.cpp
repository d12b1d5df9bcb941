#include "restart.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "mpi_handle.hpp"
#include "session.hpp"

namespace sidestream_python {

namespace {

/// Contiguous writable memory, held while it is filled. Needs the GIL.
class Room {
 public:
  explicit Room(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) nb::raise_python_error();
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { PyBuffer_Release(&view_); }
  [[nodiscard]] void* data() const noexcept { return view_.buf; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(view_.len); }

 private:
  Py_buffer view_{};
};

Restart::Numbers numbers(const std::int64_t (&three)[3]) { return {three[0], three[1], three[2]}; }

template <class Name>
std::vector<std::string> names(const sidestream_restart* restart, Name name) {
  std::vector<std::string> found;
  for (std::int32_t n = 0; const char* text = name(restart, n); ++n) found.emplace_back(text);
  return found;
}

}  // namespace

void Restart::check(int code) const {
  if (code != SIDESTREAM_OK) throw Failure{code, sidestream_restart_message(restart_)};
}

Restart::Restart(std::uintptr_t comm, const nb::bytes& path, std::optional<std::int64_t> cycle) {
  const std::int64_t of = cycle.value_or(0);
  const std::string directory(path.c_str(), path.size());  // paths need not be UTF-8
  int code = SIDESTREAM_OK;
  {
    const nb::gil_scoped_release released;
    code = sidestream_restart_open(handle_of<MPI_Comm>(comm), directory.c_str(), cycle ? &of : nullptr, &restart_);
  }
  check(code);
}

std::tuple<std::int64_t, std::int64_t, double> Restart::iteration() const {
  std::int64_t index = 0, cycle = 0;
  double time = 0;
  check(sidestream_restart_iteration(restart_, &index, &cycle, &time));
  return {index, cycle, time};
}

std::vector<std::string> Restart::meshes() const { return names(restart_, sidestream_restart_mesh_name); }
std::vector<std::string> Restart::variables() const { return names(restart_, sidestream_restart_variable_name); }

std::tuple<std::string, Restart::Numbers, Restart::Numbers, Restart::Numbers> Restart::variable(
    const char* name) const {
  sidestream_stored_variable about{};
  about.struct_size = sizeof about;
  check(sidestream_restart_variable(restart_, name, &about));
  return {about.mesh,
          {about.type, about.components, about.centering, about.row_order, about.is_list, about.length, about.role,
           about.owned_points},
          numbers(about.lo),
          numbers(about.hi)};
}

std::vector<std::tuple<Restart::Numbers, Restart::Numbers, Restart::Numbers>> Restart::blocks(const char* mesh) const {
  std::int64_t count = 0;
  check(sidestream_restart_block_count(restart_, mesh, &count));
  std::vector<std::tuple<Numbers, Numbers, Numbers>> found;
  for (std::int64_t n = 0; n < count; ++n) {
    sidestream_stored_block block{};
    block.struct_size = sizeof block;
    check(sidestream_restart_block(restart_, mesh, n, &block));
    found.emplace_back(Numbers{block.id, block.level, block.client, block.points, block.corners, block.faces},
                       numbers(block.lo), numbers(block.hi));
  }
  return found;
}

void Restart::read_box(const char* variable, std::int32_t level, const Numbers& lo, const Numbers& hi,
                       nb::handle array) {
  const Room room(array);
  check(Session::letting_others_run([&] {
    return sidestream_restart_read_box(restart_, variable, level, lo.data(), hi.data(), nullptr, nullptr, room.data());
  }));
}

void Restart::read_list(const char* variable, std::int64_t first, std::int64_t count, nb::handle array) {
  const Room room(array);
  check(Session::letting_others_run(
      [&] { return sidestream_restart_read_list(restart_, variable, first, count, room.data()); }));
}

void Restart::read_block(const char* variable, std::int64_t block, nb::handle array) {
  const Room room(array);
  check(Session::letting_others_run(
      [&] { return sidestream_restart_read_block(restart_, variable, block, room.data(), room.bytes()); }));
}

void add_restart(nb::module_& module) {
  nb::class_<Restart>(module, "Restart")
      .def(nb::init<std::uintptr_t, const nb::bytes&, std::optional<std::int64_t>>(), nb::arg("comm"),
           nb::arg("directory"), nb::arg("cycle").none())
      .def("close", &Restart::close)
      .def("iteration", &Restart::iteration)
      .def("remarks", &Restart::remarks)
      .def("meshes", &Restart::meshes)
      .def("variables", &Restart::variables)
      .def("variable", &Restart::variable)
      .def("blocks", &Restart::blocks)
      .def("read_box", &Restart::read_box)
      .def("read_list", &Restart::read_list)
      .def("read_block", &Restart::read_block);
}

}  // namespace sidestream_python
