// A session for the Python package: sidestream.h with exceptions, arrays, and the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <sidestream/sidestream.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "failure.hpp"

namespace sidestream_python {

namespace nb = nanobind;

using Numbers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// Calls have the names and meanings of sidestream.h; those that may wait for others release the GIL. Throws Failure.
class Session {
 public:
  /// Opens a session. Collective. `comm` is MPI's handle as a number; `given` is a file's name, a text, or nothing.
  Session(std::uintptr_t comm, const std::optional<std::string>& given, bool is_text);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Does not close: closing is collective, but garbage collection happens at any time. A session that was not closed
  /// is left to MPI_Finalize, which closes it and reports it.
  ~Session() = default;

  /// The session. Throws if it was closed.
  [[nodiscard]] sidestream_session* open(const char* call) const;
  [[nodiscard]] bool is_open() const noexcept { return session_ != nullptr; }
  [[nodiscard]] bool is_server() const { return sidestream_is_server(session_) != 0; }
  [[nodiscard]] bool should_end() const { return sidestream_should_end(session_) != 0; }
  [[nodiscard]] std::uintptr_t comm() const;
  [[nodiscard]] std::string message() const { return sidestream_message(session_); }
  /// Address of the sidestream_session, for extensions in C that publish too; blocks are declared here.
  [[nodiscard]] std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(open("address")); }
  void serve();
  /// iterations, delivered, refused, failed, unknown, absent_blocks, dropped, bytes_published, spilled, bytes_spilled.
  [[nodiscard]] Numbers account() const;
  Numbers close();

  void start();
  bool publish(const char* variable, std::int64_t block, nb::handle array, int component_axis);
  /// Publishes all elements in memory order, whatever the shape.
  bool publish_values(const char* variable, std::int64_t block, nb::handle array);
  /// Publishes one array per component, all of one type, shape and strides.
  bool publish_components(const char* variable, std::int64_t block, const std::vector<nb::object>& arrays);
  /// A NumPy array over the block's memory, or None if the iteration is refused.
  [[nodiscard]] nb::object alloc(const char* variable, std::int64_t block);
  void commit(const char* variable, std::int64_t block);
  /// Releases the memory. Throws while an array over it is in use.
  void clear(const char* variable, std::int64_t block);
  void signal(const char* event);
  /// Raises an event with `count` elements of the sidestream_type `type`.
  void signal_values(const char* event, int scope, int type, const char* bytes, std::int64_t count);
  void signal_barrier(const char* event);
  [[nodiscard]] bool is_needed(const char* variable, std::optional<std::int64_t> cycle);
  [[nodiscard]] std::int64_t get_int(const char* name);
  [[nodiscard]] double get_real(const char* name);
  bool end_iteration(std::int64_t cycle, double time);

  /// Makes another call of sidestream.h that does not wait for others: `call(session, arguments...)`.
  template <class... Parameters, class... Arguments>
  void plainly(const char* name, int (*call)(sidestream_session*, Parameters...), Arguments... arguments) {
    sidestream_session* const session = open(name);
    static_cast<void>(taken(session, call(session, arguments...)));
  }
  /// Makes a call that declares.
  template <class... Parameters, class... Arguments>
  void declare(const char* name, int (*call)(sidestream_session*, Parameters...), Arguments... arguments) {
    ++declared_;
    plainly(name, call, arguments...);
  }
  /// A counter that changes with each call that declares.
  [[nodiscard]] std::int64_t declared() const noexcept { return declared_; }

  /// Releases the GIL during a call: publications may wait for room as long as servers take, and other threads run
  /// meanwhile.
  template <class Call>
  static int letting_others_run(Call&& call) {
    const nb::gil_scoped_release released;
    return call();
  }

 private:
  /// Keeps an array's memory in place after close; held here and by the arrays over it.
  using Memory = std::shared_ptr<sidestream_memory>;
  struct Loan {
    Memory memory;
  };
  using Place = std::pair<std::string, std::int64_t>;
  [[nodiscard]] const sidestream_description& described(const char* call, const char* variable, std::int64_t block);
  [[nodiscard]] const Memory& kept_in_place();
  void refuse(const char* variable, std::int64_t block);
  [[nodiscard]] bool taken_or_shown(int code, const Py_buffer& view, sidestream_order order);
  template <class Work>
  auto or_refuse(const char* variable, std::int64_t block, Work&& work);

  sidestream_session* session_ = nullptr;
  std::int64_t declared_ = 0;
  /// Few entries, found without a copy of the name.
  std::map<std::string, sidestream_description, std::less<>> described_;
  Memory memory_;
  std::map<Place, std::shared_ptr<Loan>> lent_;
};

/// Adds the calls that declare.
void add_declarations(nb::class_<Session>& session);

}  // namespace sidestream_python
