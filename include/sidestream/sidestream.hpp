// Sidestream for C++ programs: the calls of sidestream.h as a class, with exceptions instead of codes.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/event.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/error.hpp"
#include "sidestream/values.hpp"
// Analyses, writers and partitioners of the program itself need C++20; calling Sidestream needs C++17.
#if __cplusplus >= 202002L
#include "sidestream/extend/registry.hpp"
#endif

namespace sidestream {

class Registry;

/// Counts of what happened to the iterations; see sidestream_account in sidestream.h.
struct Account {
  std::int64_t iterations = 0, delivered = 0, refused = 0, failed = 0, unknown = 0, absent_blocks = 0;
  std::uint64_t bytes_published = 0;
  std::int64_t dropped = 0;
  std::int64_t spilled = 0;
  std::uint64_t bytes_spilled = 0;
};

/// Tells if an iteration was taken or dropped. Reasons to drop it are no room (`when_full: skip`), no servers
/// (`sidecar`), or a failed call. A simulation continues after both; Session::refusal says why.
enum class Taken { yes, refused };

/// A variable on a block, looked up once; see Session::handle.
enum class Handle : std::int64_t { none = -1 };

/// An array of the program as its language describes it, for bindings; see sidestream_publish_array in sidestream.h.
struct ProgramArray {
  Type type = Type::float64;
  const void* data = nullptr;
  int rank = 0;
  const Index* extents = nullptr;  ///< `rank` entries, also in strides
  const Index* strides = nullptr;  ///< in elements
  int component_axis = -1;         ///< negative: the last
};

/// The handle of one run. Order of calls, collectiveness and lifetimes are as in sidestream.h; every function throws
/// Error.
class Session {
 public:
  /// Opens a session. Collective over `comm`. Rank 0 reads `file`; SIDESTREAM_CONFIG replaces it.
  [[nodiscard]] static Session open(MPI_Comm comm, const std::string& file);
  [[nodiscard]] static Session open_text(MPI_Comm comm, const std::string& text);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  /// Closes if close() was not called; errors are then lost. Collective.
  ~Session();

  [[nodiscard]] bool is_server() const;
  void serve();
  [[nodiscard]] MPI_Comm comm() const;
  /// Closes the session, which cannot be used afterwards. Collective. Account::dropped counts the iterations that
  /// `drain_limit` cut off.
  Account close();
  [[nodiscard]] Account account() const;

  void set(const std::string& name, std::int64_t value);
  void set(const std::string& name, double value);
  /// `size` has 1 to 3 entries, `origin` and `spacing` as many.
  void add_uniform_mesh(const std::string& name, const std::vector<Index>& size, const std::vector<double>& origin,
                        const std::vector<double>& spacing);
  void add_rectilinear_mesh(const std::string& name, const std::vector<std::vector<double>>& nodes);
  /// Declares a variable of the named mesh; the fields id and mesh are ignored.
  void add_variable(const std::string& mesh, Variable variable);
  /// `attribute`: unit, label, group, time_varying or ghosts.
  void set_attribute(const std::string& variable, const std::string& attribute, const std::string& value);
  /// These make the same declarations as the calls of the same names in sidestream.h. Variables are named; an empty
  /// name means that no variable has the role.
  void add_curvilinear_mesh(const std::string& name, const std::vector<Index>& size, const std::string& coordinates);
  void add_unstructured_mesh(const std::string& name, int dimensions, const std::string& coordinates,
                             const std::string& connectivity, const std::string& offsets, const std::string& types);
  void add_points_mesh(const std::string& name, int dimensions, const std::string& coordinates);
  void add_octree_mesh(const std::string& name, const std::vector<Index>& roots, const std::vector<double>& origin,
                       const std::vector<double>& spacing, const std::string& refined);
  void add_spectral_mesh(const std::string& name, int dimensions, bool continuous = true);
  void set_mesh_array(const std::string& mesh, Role role, const std::string& variable);
  void set_periodic(const std::string& mesh, const std::array<bool, 3>& periodic);
  void set_refinement(const std::string& mesh, const std::vector<Index3>& ratios);
  void set_fixed(const std::string& mesh);
  void set_owned_points(const std::string& mesh);
  void set_block(const std::string& mesh, std::int64_t block, const Box& cells, int level = 0);
  /// Declares a block of a rectilinear mesh that no call declares as a whole, and its nodes along each axis; see
  /// sidestream.h.
  void set_rectilinear_block(const std::string& mesh, std::int64_t block, const Box& cells,
                             const std::vector<std::vector<double>>& nodes);
  /// Without bounds the positions of the points are unknown.
  void set_block_list(const std::string& mesh, std::int64_t block, Index cells, const ListLengths& lengths,
                      const Bounds& bounds = {});
  void set_block_bounds(const std::string& mesh, std::int64_t block, const Bounds& bounds);
  void remove_block(const std::string& mesh, std::int64_t block);
  /// Declares all blocks of this client on the mesh, boxes or lists; see sidestream_replace_blocks in sidestream.h.
  /// Uses the members of each block that programs declare: id, level, space, cells, lengths, bounds.
  void replace_blocks(const std::string& mesh, const std::vector<Block>& blocks);
  /// Declares spectral elements; see sidestream.h. `place` has a pointer for each axis of the mesh. `numbers` may be
  /// null.
  void set_spectral_block(const std::string& mesh, std::int64_t block, int order, Index elements,
                          const std::vector<const double*>& place, const std::int64_t* numbers = nullptr);
  void set_allocated(const std::string& variable, std::int64_t block, const Box& box);
  void start();

  /// Publishes one block; type and number of values are compared with the declaration:
  ///   publish("t", 0, vector), publish("t", 0, {t, count}), publish("t", 0, t, count)
  /// and from an array with gaps publish("t", 0, {t, {nx, ny, nz}, {1, sy, sz}}).
  Taken publish(std::string_view variable, std::int64_t block, const Values& values);
  template <class T>
  Taken publish(std::string_view variable, std::int64_t block, const T* data, std::size_t count) {
    return publish(variable, block, Values(data, count));
  }
  Taken publish(std::string_view variable, std::int64_t block, const StridedValues& values);
  /// Publishes an array that another language describes. It is a template, so that {type, data, count} means Values.
  template <class Array = ProgramArray, class = std::enable_if_t<std::is_same_v<Array, ProgramArray>>>
  Taken publish(std::string_view variable, std::int64_t block, const Array& array) {
    return publish_array(variable, block, array);
  }
  /// Publishes a variable of several components from one array per component. Each covers the allocated box
  /// contiguously.
  Taken publish_components(std::string_view variable, std::int64_t block, const ValuesList& components);
  /// Publishes one array per component, with any strides. All are described by `of_each`, whose data and component_axis
  /// are ignored.
  Taken publish_components(std::string_view variable, std::int64_t block, const std::vector<const void*>& components,
                           const ProgramArray& of_each);
  /// Publishes several variables of one block, by name. All are tried; returns refused if any is.
  Taken publish_block(std::int64_t block, const std::vector<NamedValues>& arrays);
  /// Looks a variable and block up once, for programs that publish many small blocks. The handle is valid until the
  /// block is removed.
  [[nodiscard]] Handle handle(std::string_view variable, std::int64_t block);
  Taken publish(Handle handle, const Values& values);
  template <class T>
  Taken publish(Handle handle, const T* data, std::size_t count) {
    return publish(handle, Values(data, count));
  }
  /// Publishes several variables or blocks in one call, values.all[n] for handles[n]. All are tried; refused if one is.
  Taken publish(const std::vector<Handle>& handles, const ValuesList& values);

  // Without type and length nothing is checked: arrays that are too short are read beyond their end, and other types
  // are misread.
  [[deprecated("add the number of values: publish(variable, block, data, count)")]] Taken publish(
      std::string_view variable, std::int64_t block, const void* data);
  [[deprecated("give extents too: publish(variable, block, {data, {extents...}, {strides...}})")]] Taken publish(
      std::string_view variable, std::int64_t block, const void* data, const std::array<Index, 4>& strides);
  [[deprecated("give the number of values of each: {{data, count}, ...}")]] Taken publish_components(
      std::string_view variable, std::int64_t block, const std::vector<const void*>& components);
  [[deprecated("give the number of values of each: {{variable, {data, count}}, ...}")]] Taken publish_block(
      std::int64_t block, const std::vector<std::pair<std::string_view, const void*>>& arrays);
  [[deprecated("add the number of values: publish(handle, data, count)")]] Taken publish(Handle handle,
                                                                                         const void* data);
  [[deprecated("give the number of values of each: {{data, count}, ...}")]] Taken publish(
      const std::vector<Handle>& handles, const std::vector<const void*>& data);

  /// Memory for `count` values of the type T, compared with the declaration as in publish; null if refused.
  template <class T>
  [[nodiscard]] T* alloc(std::string_view variable, std::int64_t block, std::size_t count) {
    return static_cast<T*>(alloc_values(variable, block, Element<T>::type, count * Element<T>::count));
  }
  [[nodiscard]] void* alloc_values(std::string_view variable, std::int64_t block, Type type, std::size_t count);
  /// Memory for a variable whose elements have that type and whose arrays have that rank; describes the memory.
  [[nodiscard]] ArrayView alloc(std::string_view variable, std::int64_t block, Type type, int rank);
  [[nodiscard, deprecated("add type and number of values: alloc<T>(variable, block, count)")]] void* alloc(
      std::string_view variable, std::int64_t block);
  void commit(std::string_view variable, std::int64_t block);
  void clear(std::string_view variable, std::int64_t block);
  /// Keeps the memory of alloc in place, even after the session is closed.
  [[nodiscard]] std::shared_ptr<const void> memory();
  /// The declaration of a variable, valid as long as the session. Starts the session.
  [[nodiscard]] const Variable& declared(std::string_view variable);
  /// Number of axes of the variable's arrays, without the one of components.
  [[nodiscard]] int array_axes(const Variable& variable);
  /// False if no analysis, output or condition of the servers reads the variable in the open iteration, so that it
  /// need not be published. The same on every client that has ended equally many iterations. True where that cannot be
  /// known before: with schedules in time, a clock or `first`; in schedules of cycles without `cycle`, which
  /// end_iteration will get; with the placement `nodes`; with `live: {requests: yes}`; and in the first max_in_flight
  /// iterations with these servers. Begins the iteration as publish does, and may wait as it does. Does not
  /// communicate.
  [[nodiscard]] bool is_needed(std::string_view variable, std::optional<std::int64_t> cycle = std::nullopt);
  void signal(std::string_view event);
  /// See sidestream_signal_values and sidestream_signal_barrier. `values` has `count` elements.
  void signal(std::string_view event, EventScope scope, Type type, const void* values, std::size_t count);
  void signal_barrier(std::string_view event);
  /// Ends the iteration; see sidestream_end_iteration. Throws Error(analysis) once if a server failed since the last
  /// call and `on_error: stop`; the iteration may differ between clients.
  Taken end_iteration(std::int64_t cycle, double time);
  /// The value of a parameter of the configuration's `steering:` at the last end_iteration, integer or real as declared
  /// there. It is the same on every client that has ended equally many iterations. After start.
  [[nodiscard]] std::int64_t steered_integer(std::string_view name) const;
  [[nodiscard]] double steered_real(std::string_view name) const;
  /// The names and types of all steered parameters, in the order of the configuration. After start.
  [[nodiscard]] std::vector<std::pair<std::string, Type>> steered_parameters() const;
  /// True if the run was told to end and the last end_iteration ended its last iteration; see sidestream_should_end.
  [[nodiscard]] bool should_end() const;
  /// The reason, in one sentence, why this client refuses the open iteration, or else the last one. Empty if it does
  /// not.
  [[nodiscard]] std::string refusal() const;

  /// The kinds of the program itself. Register them on every rank, servers too, before serve or start.
  Registry& registry();

 private:
  Taken publish_array(std::string_view variable, std::int64_t block, const ProgramArray& array);
  friend struct SessionAccess;
  class Implementation;
  explicit Session(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sidestream
