// A client's work between start and close: blocks, publications, iterations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/end_of_run.hpp"
#include "client/list_check.hpp"
#include "client/needed_values.hpp"
#include "client/steered_values.hpp"
#include "client/tree_bounds.hpp"
#include "server/engine/ledger.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// Time of one iteration on a client, in seconds.
struct IterationTiming {
  std::int64_t iteration = 0;
  double start = 0;    ///< since the session's start
  double compute = 0;  ///< outside Sidestream
  double publish = 0;  ///< in publish, alloc, commit, clear, without waiting
  double wait = 0;     ///< waiting for room or a place in flight
  double end = 0;      ///< in end_iteration, without waiting; with `inline` including the analyses
};

/// Bytes that a block of one variable needs in the transport.
struct BlockBytes {
  Block block;
  std::uint64_t bytes = 0;
  bool persistent = false;
};

/// Names, for messages, of the calls that declare blocks as boxes and as lists.
struct BlockCalls {
  const char *of_boxes, *of_lists;
};

/// The program's memory with the values of a publication.
struct ValuesAt {
  const void* data = nullptr;                     ///< values of all components, unless each has its own array
  const std::array<Index, 4>* strides = nullptr;  ///< in elements; null: contiguous
  std::span<const void* const> components{};      ///< one array per component; strides[3] is not used

  /// True if there is memory to read.
  [[nodiscard]] bool given() const noexcept {
    return components.empty() ? data != nullptr
                              : std::find(components.begin(), components.end(), nullptr) == components.end();
  }
};

/// Publishes for one client. Checks every call; a call that fails refuses its iteration, so that no server takes it as
/// complete.
class Publisher {
 public:
  struct Options {
    bool off = false;     ///< publish nothing, only provide memory for alloc
    bool timings = true;  ///< keep the rows that `timings` returns
    bool stop_on_error = false;
    std::int32_t client = 0;  ///< rank among the clients
    std::int32_t node = 0;
    std::int64_t on_node = 0;   ///< clients on this node
    std::uint64_t counted = 0;  ///< bits of the events that servers count by client: a task has `from`
    double origin = 0;          ///< now() at the session's start
    int steering_ahead = 0;     ///< iterations; 0: the servers work while an iteration ends
    /// Takes the publisher's rows, which are then dropped. Without it they stay.
    std::function<void(const Publisher&)> take_rows{};
    bool iterations = false;  ///< keep the rows that `iterations` returns
    bool movement = false;    ///< keep the rows that `moved` returns
    EndingSource ending{};
    int max_in_flight = 1;  ///< iterations
  };
  Publisher(const Metadata& metadata, const std::vector<std::string>& events,
            const std::vector<SteeredParameter>& steering, const Options& options);

  /// Declares or changes a block. Declarations before the transport exists determine its size. Fills in the block's
  /// mesh and client.
  void set_block(std::string_view mesh, Block wanted);
  void set_block_bounds(std::string_view mesh, std::int64_t id, const Bounds& bounds);
  void remove_block(std::string_view mesh, std::int64_t id);
  /// Declares `wanted` as all blocks of this client on the mesh; see Session::replace_blocks.
  void replace_blocks(std::string_view mesh, std::vector<Block> wanted);
  void set_allocated(std::string_view variable, std::int64_t id, const Box& box);
  /// True if the variable is declared and the block of its mesh is one of this client.
  [[nodiscard]] bool has_block(std::string_view variable, std::int64_t id) const;
  [[nodiscard]] std::vector<BlockBytes> sizes() const;
  /// Hands over the blocks declared so far and begins iteration 0. `transport` must outlive the publisher.
  void attach(ClientTransport& transport);

  Taken publish(std::string_view variable, std::int64_t id, const void* data, const std::array<Index, 4>* strides);
  Taken publish(std::string_view variable, std::int64_t id, const ProgramArray& array);
  /// Publishes contiguous values, whose type and number are compared with the declaration.
  Taken publish(std::string_view variable, std::int64_t id, const Values& values);
  /// One array per component, described by `of_each`; null means contiguous, in the variable's storage order.
  Taken publish(std::string_view variable, std::int64_t id, std::span<const void* const> components,
                const ProgramArray* of_each);
  Taken publish_components(std::string_view variable, std::int64_t id, std::span<const Values> components);
  /// False if no task reads the variable in this iteration, which it begins. See Session::is_needed.
  [[nodiscard]] bool is_needed(std::string_view variable, std::optional<std::int64_t> cycle);
  /// Other servers have come (`sidecar`).
  void meet_servers(std::uint64_t epoch) { needed_.begin(epoch); }
  /// Looks up a variable on a block. The handle is valid until the block is removed.
  [[nodiscard]] std::int64_t handle(std::string_view variable, std::int64_t id);
  Taken publish(std::int64_t handle, const void* data);
  Taken publish(std::int64_t handle, const Values& values);
  [[nodiscard]] void* alloc(std::string_view variable, std::int64_t id);
  [[nodiscard]] void* alloc_values(std::string_view variable, std::int64_t id, Type type, std::size_t count);
  /// Allocates memory for values; the result's data is null if refused.
  [[nodiscard]] ArrayView alloc(std::string_view variable, std::int64_t id, Type type, int rank);
  /// Keeps the memory of `alloc` alive.
  [[nodiscard]] std::shared_ptr<const void> memory() const { return transport_->memory(); }
  /// Finds a variable by name; throws if there is none. Not part of an iteration, so failures refuse none.
  [[nodiscard]] const Variable& declared(std::string_view name, const char* call) const;
  [[nodiscard]] int array_axes(const Variable& variable) const {
    return metadata_.mesh_of(variable).index_dimensions();
  }
  void commit(std::string_view variable, std::int64_t id);
  void clear(std::string_view variable, std::int64_t id);
  void signal(std::string_view event);
  /// Signals with values: `count` elements.
  void signal(std::string_view event, EventScope scope, Type type, const void* values, std::size_t count);
  void signal_barrier(std::string_view event);
  /// Ends the iteration. `inline_step` runs after the iteration is handed over and counts as part of the end.
  Taken end(std::int64_t cycle, double time, const std::function<void()>& inline_step);
  /// Reason why the open iteration, or otherwise the last one, is refused on this client; empty if it is not.
  [[nodiscard]] std::string refusal() const;
  /// True if anything that varies in time was published after the last end of an iteration.
  [[nodiscard]] bool left_open() const noexcept;
  /// Values of steered parameters, as of the last end of an iteration.
  [[nodiscard]] const SteeredValues& steered() const noexcept { return steered_; }
  /// True if the run was told to end and its last iteration has ended.
  [[nodiscard]] bool should_end() const noexcept { return end_of_run_.over(); }
  /// Waits for outcomes, at most `limit_seconds`.
  void drain(double limit_seconds);
  /// Closes the account: outcomes that are still unknown stay so. `absent_blocks`: number for all clients, counted by
  /// the servers.
  void close_account(std::int64_t absent_blocks);
  /// Reads outcomes that have become known.
  void settle();

  [[nodiscard]] const Account& account() const noexcept { return account_; }
  // Rows that were not taken: at most `most_rows` of a kind, besides the iterations in flight.
  static constexpr std::size_t most_rows = 512;
  [[nodiscard]] const std::vector<IterationTiming>& timings() const noexcept { return timings_; }
  /// Iterations as this client saw them, once their outcome is known.
  [[nodiscard]] const std::vector<IterationRow>& iterations() const noexcept { return iterations_; }
  /// Bytes that left this client's memory.
  [[nodiscard]] const std::vector<MovedBytes>& moved() const noexcept { return moved_; }

 private:
  /// One variable on one block.
  struct Slot {
    BlockRecord record;  ///< description of its publications; its box is the arrays' box
    std::int64_t published_in = -1;
    Region region;  ///< memory of alloc, until clear
    enum class State { none, allocated, committed } state = State::none;
    /// For a variable that does not vary in time: true if its last publication failed or found no room. Servers then
    /// have other values than this client published, and no iteration is complete until the array is handed over.
    bool unsent = false;
    Bytes waiting;             ///< values that found no room
    std::int64_t handle = -1;  ///< index in handles_
  };
  using Slots = std::unordered_map<std::int64_t, Slot>;
  struct Found {
    const Variable& variable;
    Slot& slot;
  };
  [[nodiscard]] const Mesh& mesh(std::string_view name) const;
  void check_box(const Mesh& on, const Block& wanted, const BlockCalls& calls) const;
  void check_list(const Mesh& on, const Block& wanted, const BlockCalls& calls) const;
  void complete(const Mesh& on, Block& wanted, const BlockCalls& calls) const;
  [[nodiscard]] std::vector<Block> complete_list(const Mesh& on, std::vector<Block> wanted) const;
  [[nodiscard]] bool stays(const Block& wanted) const;
  void replace(const Mesh& on, const std::vector<Block>& wanted);
  void place(const Mesh& on, const Block& wanted);
  void drop(const Mesh& on, std::int64_t id);
  void check_fixed(const Mesh& on, std::int64_t id, const char* call) const;
  [[nodiscard]] Found find(std::string_view variable, std::int64_t id, const char* call);
  void check_unused(const Mesh& on, std::int64_t id, const char* call) const;
  void check_unused(const Slot& slot, const char* call) const;
  void number(BlockRecord& record);
  void describe(Slot& slot, const Variable& variable, const Block& block, const Box& box);
  void tell(const Block& block, bool removed);
  void give_back(const Region& region) noexcept;
  void prepare_end(double time, std::exception_ptr& failed) noexcept;
  void next_iteration(double end_began);
  void check_first(const Slot& slot, const char* call) const;
  void handed_over(Slot& slot);
  void read_mesh_array(const BlockRecord& record, const ArrayView& list);
  /// Throws if the type or number of the values differs from the record.
  void check_values(const char* call, const Slot& slot, Type type, std::size_t count, int components) const;
  [[nodiscard]] Slot& slot_of(std::int64_t handle);
  Taken publish(Slot& slot, const ValuesAt& values);
  [[nodiscard]] void* alloc(Slot& slot);
  void commit(Slot& slot);
  [[nodiscard]] std::optional<Region> reserve_for(const BlockRecord& record);
  static void copy(const BlockRecord& record, const ValuesAt& values, std::byte* to);
  static void copy_components(const BlockRecord& record, const ValuesAt& values, std::byte* to);
  template <class Work>
  auto or_mark_unsent(Slot& slot, Work&& work);
  void mark_unsent(Slot& slot);
  void mark_sent(Slot& slot);
  void send_pending_static();
  void send_pending(Slot& slot);
  [[nodiscard]] const std::string& name_of(const Slot& slot) const {
    return metadata_.variables[static_cast<std::size_t>(slot.record.variable)].name;
  }
  [[nodiscard]] bool begin();
  void begin_new();
  void receive_news();
  void refuse(Refusal reason);
  [[nodiscard]] std::uint64_t count_absent() const;
  template <class Work>
  auto timed(double IterationTiming::*entry, Work&& work);
  void count(Outcome outcome);
  void keep_rows(std::int64_t index, const Settled& settled);
  void hand_rows_over();
  void count_spilled();

  const Metadata& metadata_;
  [[nodiscard]] std::int32_t event_number(std::string_view event) const;
  void send_signals();
  void come(std::int32_t event, EventScope scope, std::uint32_t barrier);
  const std::vector<std::string>& events_;
  std::vector<Signal> signals_;  ///< signals raised in this iteration
  std::uint64_t signals_sent_ = 0;
  Options options_;
  SteeredValues steered_;
  EndOfRun end_of_run_;
  NeededValues needed_;
  std::int64_t asked_in_ = -1;  ///< the iteration in which `is_needed` has read the notices
  ClientTransport* transport_ = nullptr;
  std::unordered_map<std::string_view, std::int32_t> variable_ids_;
  std::vector<std::map<std::int64_t, Block>> blocks_;  ///< by mesh
  std::vector<Slots> slots_;                           ///< by variable
  std::vector<std::int64_t> published_;                ///< by variable: blocks published in this iteration
  EndRecord end_;
  bool begun_ = false;
  std::uint64_t spilled_ = 0;                     ///< bytes, when the transport was last asked
  std::string failure_;                           ///< message of the servers, until an end of iteration reports it
  double waited_ = 0;                             ///< seconds that the transport had waited when it was last asked
  std::uint32_t refused_ = 0, last_refused_ = 0;  ///< bits of Refusal for this iteration, and for the last one
  std::string failed_call_;                       ///< message of the last call that failed
  std::int64_t unsent_static_arrays_ = 0;         ///< number of slots with an unsent array
  std::vector<std::uint32_t> free_numbers_;       ///< numbers of records whose blocks were removed
  std::uint32_t numbers_ = 0, revisions_ = 0;     ///< numbers and revisions of records given so far
  TreeBounds tree_bounds_;
  ListCheck lists_;
  std::vector<Slot*> handles_;  ///< null: the block was removed
  std::vector<IterationRow> iterations_;
  std::deque<IterationRow> unsettled_;  ///< rows of iterations without an outcome
  std::vector<MovedBytes> moved_;
  bool gave_up_ = false;  ///< `drain` reached its limit
  std::int64_t settled_ = 0;
  std::deque<bool> in_doubt_;  ///< for each iteration without an outcome: true if this client refused it
  Account account_;
  IterationTiming timing_;
  double iteration_start_ = 0;
  std::vector<IterationTiming> timings_;
};

}  // namespace sidestream
