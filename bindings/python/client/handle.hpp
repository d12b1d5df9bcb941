// Handle of a variable on a block, looked up once, for programs that publish many small blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.hpp"

namespace sidestream_python {

/// Publishes as Session::publish does. An array is published without looking up name, description and axes if it
/// resembles the last one that this handle published, is contiguous, and the session's declarations have not changed
/// since.
class Handle {
 public:
  /// `session` must outlive it. Throws Failure if there is no such variable or block.
  Handle(Session& session, std::string variable, std::int64_t block);
  bool publish(nb::handle array, int component_axis);
  [[nodiscard]] const std::string& variable() const noexcept { return variable_; }
  [[nodiscard]] std::int64_t block() const noexcept { return block_; }

 private:
  [[nodiscard]] bool is_known(const Py_buffer& view, int component_axis) const;
  void remember(const Py_buffer& view, int component_axis);

  Session& session_;
  std::string variable_;
  std::int64_t block_;
  sidestream_handle handle_ = 0;
  std::int64_t declared_ = -1;     ///< Session::declared() when the array below was taken; -1: there is none
  std::string format_;             ///< format of its elements
  std::vector<Py_ssize_t> shape_;  ///< and its shape
  std::vector<Py_ssize_t> strides_;
  int component_axis_ = -1;
};

/// Adds the class and Session.get_handle.
void add_handles(nb::module_& module, nb::class_<Session>& session);

}  // namespace sidestream_python
