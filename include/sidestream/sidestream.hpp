// Sidestream for C++ programs: the calls of sidestream.h as a class, with exceptions instead of codes.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/error.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// What became of the iterations; see sidestream_account in sidestream.h.
struct Account {
  std::int64_t iterations = 0, delivered = 0, refused = 0, failed = 0, unknown = 0, absent_blocks = 0;
  std::uint64_t bytes_published = 0;
};

/// Whether an iteration was taken or dropped (`when_full: skip`).
enum class Taken { yes, refused };

/// One run's handle. Order of calls, collectiveness and lifetimes are those of sidestream.h; every function throws
/// Error.
class Session {
 public:
  /// Collective over `comm`. `file` is read by rank 0; SIDESTREAM_CONFIG replaces it.
  [[nodiscard]] static Session open(MPI_Comm comm, const std::string& file);
  [[nodiscard]] static Session open_text(MPI_Comm comm, const std::string& text);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  /// Closes if close() was not called; errors are then lost. Collective.
  ~Session();

  [[nodiscard]] bool is_server() const;
  void serve();
  [[nodiscard]] MPI_Comm comm() const;
  /// Collective. The session cannot be used afterwards.
  Account close();
  [[nodiscard]] Account account() const;

  void set(const std::string& name, std::int64_t value);
  void set(const std::string& name, double value);
  /// `size` has 1 to 3 entries, `origin` and `spacing` as many.
  void add_uniform_mesh(const std::string& name, const std::vector<Index>& size, const std::vector<double>& origin,
                        const std::vector<double>& spacing);
  void add_rectilinear_mesh(const std::string& name, const std::vector<std::vector<double>>& nodes);
  /// Fields id and mesh are ignored; `mesh` names it.
  void add_variable(const std::string& mesh, Variable variable);
  /// `attribute`: unit, label, group or time_varying.
  void set_attribute(const std::string& variable, const std::string& attribute, const std::string& value);
  void set_block(const std::string& mesh, std::int64_t block, const Box& cells);
  void remove_block(const std::string& mesh, std::int64_t block);
  void set_allocated(const std::string& variable, std::int64_t block, const Box& box);
  void start();

  Taken publish(std::string_view variable, std::int64_t block, const void* data);
  Taken publish(std::string_view variable, std::int64_t block, const void* data, const std::array<Index, 4>& strides);
  /// Null if refused.
  [[nodiscard]] void* alloc(std::string_view variable, std::int64_t block);
  void commit(std::string_view variable, std::int64_t block);
  void clear(std::string_view variable, std::int64_t block);
  void signal(std::string_view event);
  Taken end_iteration(std::int64_t cycle, double time);

  /// Kinds of the program itself; on every rank, servers too, before serve or start.
  Registry& registry();

 private:
  friend struct SessionAccess;
  class Implementation;
  explicit Session(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sidestream
