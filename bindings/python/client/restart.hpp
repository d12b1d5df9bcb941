// A checkpoint for the Python package: restart.h with exceptions, buffers, and the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <sidestream/restart.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "failure.hpp"

namespace sidestream_python {

namespace nb = nanobind;

/// Calls have the names and meanings of restart.h. Throws Failure.
class Restart {
 public:
  using Numbers = std::vector<std::int64_t>;
  /// Opens a checkpoint. Collective. `comm` is MPI's handle as a number.
  Restart(std::uintptr_t comm, const nb::bytes& path, std::optional<std::int64_t> cycle);
  Restart(const Restart&) = delete;
  Restart& operator=(const Restart&) = delete;
  ~Restart() { close(); }
  void close() noexcept { sidestream_restart_close(&restart_); }

  /// index, cycle, time
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, double> iteration() const;
  [[nodiscard]] std::string remarks() const { return sidestream_restart_remarks(restart_); }
  [[nodiscard]] std::vector<std::string> meshes() const;
  [[nodiscard]] std::vector<std::string> variables() const;
  /// mesh; type, components, centering, row_order, is_list, length, role; lo; hi
  [[nodiscard]] std::tuple<std::string, Numbers, Numbers, Numbers> variable(const char* name) const;
  /// For each block: id, level, client, points, corners, faces; lo; hi
  [[nodiscard]] std::vector<std::tuple<Numbers, Numbers, Numbers>> blocks(const char* mesh) const;
  /// Read into a contiguous array, which the package has made with the shape of these points.
  void read_box(const char* variable, std::int32_t level, const Numbers& lo, const Numbers& hi, nb::handle array);
  void read_list(const char* variable, std::int64_t first, std::int64_t count, nb::handle array);
  void read_block(const char* variable, std::int64_t block, nb::handle array);

 private:
  void check(int code) const;
  sidestream_restart* restart_ = nullptr;
};

/// Adds the class to the module.
void add_restart(nb::module_& module);

}  // namespace sidestream_python
