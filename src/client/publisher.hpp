// What a client does between start and close: blocks, publications, iterations.
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

#include "client/list_check.hpp"
#include "client/steered_values.hpp"
#include "client/tree_bounds.hpp"
#include "server/engine/ledger.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// How long one iteration took on a client, in seconds.
struct IterationTiming {
  std::int64_t iteration = 0;
  double start = 0;    ///< since the session's start
  double compute = 0;  ///< outside Sidestream
  double publish = 0;  ///< in publish, alloc, commit, clear, without waiting
  double wait = 0;     ///< for room or a place in flight
  double end = 0;      ///< in end_iteration, without waiting; with `inline` the analyses
};

/// What a block of one variable needs in the transport.
struct BlockBytes {
  Block block;
  std::uint64_t bytes = 0;
  bool persistent = false;
};

/// Where the program has the values of a publication.
struct ValuesAt {
  const void* data = nullptr;                     ///< of all components, unless each has an array of its own
  const std::array<Index, 4>* strides = nullptr;  ///< in elements; null: no gaps
  std::span<const void* const> components{};      ///< the arrays, one of each component; strides[3] means nothing

  /// Whether there is memory to read.
  [[nodiscard]] bool given() const noexcept {
    return components.empty() ? data != nullptr
                              : std::find(components.begin(), components.end(), nullptr) == components.end();
  }
};

/// One client's publications. Checks every call; a call that fails refuses its iteration, so that no server takes it
/// for whole.
class Publisher {
 public:
  struct Options {
    bool off = false;     ///< publish nothing, only lend memory for alloc
    bool timings = true;  ///< keep what `timings` returns
    bool stop_on_error = false;
    std::int32_t client = 0;  ///< rank among the clients
    std::int32_t node = 0;
    double origin = 0;       ///< now() at the session's start
    int steering_ahead = 0;  ///< iterations; 0: the servers work while an iteration ends
    /// Takes the rows that the publisher has, which then drops them. Without it they stay.
    std::function<void(const Publisher&)> take_rows{};
    bool iterations = false;  ///< keep what `iterations` returns
    bool movement = false;    ///< keep what `moved` returns
  };
  Publisher(const Metadata& metadata, const std::vector<std::string>& events,
            const std::vector<SteeredParameter>& steering, const Options& options);

  // Before the transport is known: declarations that it is made from.
  /// The block's mesh and client are filled in.
  void set_block(std::string_view mesh, Block wanted);
  void set_block_bounds(std::string_view mesh, std::int64_t id, const Bounds& bounds);
  void remove_block(std::string_view mesh, std::int64_t id);
  void set_allocated(std::string_view variable, std::int64_t id, const Box& box);
  [[nodiscard]] std::vector<BlockBytes> sizes() const;
  /// Hands over the blocks declared so far and begins iteration 0. `transport` outlives the publisher.
  void attach(ClientTransport& transport);

  Taken publish(std::string_view variable, std::int64_t id, const void* data, const std::array<Index, 4>* strides);
  Taken publish(std::string_view variable, std::int64_t id, const ProgramArray& array);
  /// Gapless, with type and number of values, which are compared with what is declared.
  Taken publish(std::string_view variable, std::int64_t id, const Values& values);
  /// Of each component an array of its own, as `of_each` says; null: gapless, in the variable's order.
  Taken publish(std::string_view variable, std::int64_t id, std::span<const void* const> components,
                const ProgramArray* of_each);
  Taken publish_components(std::string_view variable, std::int64_t id, std::span<const Values> components);
  /// A variable on a block, looked up once. The number holds until the block is removed.
  [[nodiscard]] std::int64_t handle(std::string_view variable, std::int64_t id);
  Taken publish(std::int64_t handle, const void* data);
  Taken publish(std::int64_t handle, const Values& values);
  [[nodiscard]] void* alloc(std::string_view variable, std::int64_t id);
  [[nodiscard]] void* alloc_values(std::string_view variable, std::int64_t id, Type type, std::size_t count);
  /// Its data is null if refused.
  [[nodiscard]] ArrayView alloc(std::string_view variable, std::int64_t id, Type type, int rank);
  /// Of alloc, held in place.
  [[nodiscard]] std::shared_ptr<const void> memory() const { return transport_->memory(); }
  /// By name; throws if there is none. No part of an iteration: it refuses none.
  [[nodiscard]] const Variable& declared(std::string_view name, const char* call) const;
  [[nodiscard]] int array_axes(const Variable& variable) const {
    return metadata_.mesh_of(variable).index_dimensions();
  }
  void commit(std::string_view variable, std::int64_t id);
  void clear(std::string_view variable, std::int64_t id);
  void signal(std::string_view event);
  /// With values: `count` elements.
  void signal(std::string_view event, EventScope scope, Type type, const void* values, std::size_t count);
  void signal_barrier(std::string_view event);
  /// `inline_step` runs after the iteration is handed over and counts as part of the end.
  Taken end(std::int64_t cycle, double time, const std::function<void()>& inline_step);
  /// Why the iteration that is open, or else the last one, is refused here; empty if it is not.
  [[nodiscard]] std::string refusal() const;
  /// Whether anything was published after the last end of an iteration.
  [[nodiscard]] bool left_open() const noexcept;
  /// Of steered parameters, as of the last end of an iteration.
  [[nodiscard]] const SteeredValues& steered() const noexcept { return steered_; }
  /// Waits for outcomes, at most `limit_seconds`.
  void drain(double limit_seconds);
  /// What is still not known now never will be. `absent_blocks`: of all clients, as the servers counted.
  void close_account(std::int64_t absent_blocks);
  /// Reads outcomes that have become known.
  void settle();

  [[nodiscard]] const Account& account() const noexcept { return account_; }
  // Rows that nobody has taken, no more than `most_rows` of a kind beside those of iterations in flight.
  static constexpr std::size_t most_rows = 512;
  [[nodiscard]] const std::vector<IterationTiming>& timings() const noexcept { return timings_; }
  /// As this client saw them, once it knows what became of them.
  [[nodiscard]] const std::vector<IterationRow>& iterations() const noexcept { return iterations_; }
  /// What left this client's memory.
  [[nodiscard]] const std::vector<MovedBytes>& moved() const noexcept { return moved_; }

 private:
  /// One variable on one block.
  struct Slot {
    BlockRecord record;  ///< what its publications say; its box is what the arrays cover
    std::int64_t published_in = -1;
    Region region;  ///< of alloc, until clear
    enum class State { none, allocated, committed } state = State::none;
    /// Of a variable that does not vary in time: the last publication failed or found no room, so that servers have
    /// something else than this client means, and no iteration is whole. Until it is made up for.
    bool owed = false;
    Bytes waiting;             ///< values that found no room
    std::int64_t handle = -1;  ///< number in handles_
  };
  using Slots = std::unordered_map<std::int64_t, Slot>;
  struct Found {
    const Variable& variable;
    Slot& slot;
  };
  [[nodiscard]] const Mesh& mesh(std::string_view name) const;
  void check_box(const Mesh& on, const Block& wanted) const;
  void check_list(const Mesh& on, const Block& wanted) const;
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
  void look_at_mesh(const BlockRecord& record, const ArrayView& list);
  /// Throws if the values are not of the type, or as many, as the record says.
  void check_values(const char* call, const Slot& slot, Type type, std::size_t count, int components) const;
  [[nodiscard]] Slot& slot_of(std::int64_t handle);
  Taken publish(Slot& slot, const ValuesAt& values);
  [[nodiscard]] void* alloc(Slot& slot);
  void commit(Slot& slot);
  [[nodiscard]] std::optional<Region> room_for(const BlockRecord& record);
  static void copy(const BlockRecord& record, const ValuesAt& values, std::byte* to);
  static void copy_components(const BlockRecord& record, const ValuesAt& values, std::byte* to);
  template <class Work>
  auto or_owe(Slot& slot, Work&& work);
  void owe(Slot& slot);
  void forget_debt(Slot& slot);
  void settle_debts();
  void settle_debt(Slot& slot);
  [[nodiscard]] const std::string& name_of(const Slot& slot) const {
    return metadata_.variables[static_cast<std::size_t>(slot.record.variable)].name;
  }
  [[nodiscard]] bool begin();
  void begin_new();
  void hear();
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
  const std::vector<std::string>& events_;
  std::vector<Signal> signals_;  ///< raised in this iteration
  std::uint64_t signals_sent_ = 0;
  Options options_;
  SteeredValues steered_;
  ClientTransport* transport_ = nullptr;
  std::unordered_map<std::string_view, std::int32_t> variable_ids_;
  std::vector<std::map<std::int64_t, Block>> blocks_;  ///< by mesh
  std::vector<Slots> slots_;                           ///< by variable
  std::vector<std::int64_t> published_;                ///< by variable: blocks published in this iteration
  EndRecord end_;
  bool begun_ = false;
  std::uint64_t spilled_ = 0;                     ///< bytes, when the transport was asked last
  std::string failure_;                           ///< that servers told of, until an end of iteration says it
  double waited_ = 0;                             ///< what the transport has waited, when it was asked last
  std::uint32_t refused_ = 0, last_refused_ = 0;  ///< bits of Refusal: why this iteration is, and the last one was
  std::string failed_call_;                       ///< what the last call that failed said
  std::int64_t debts_ = 0;                        ///< slots that owe
  std::vector<std::uint32_t> free_numbers_;       ///< of records whose blocks were removed
  std::uint32_t numbers_ = 0, revisions_ = 0;     ///< of records, given so far
  TreeBounds tree_bounds_;
  ListCheck lists_;
  std::vector<Slot*> handles_;  ///< null: the block was removed
  std::vector<IterationRow> iterations_;
  std::deque<IterationRow> unsettled_;  ///< rows of those that have no outcome yet
  std::vector<MovedBytes> moved_;
  bool gave_up_ = false;  ///< `drain` was not enough
  std::int64_t settled_ = 0;
  std::deque<bool> in_doubt_;  ///< of each iteration not settled: whether this client refused it
  Account account_;
  IterationTiming timing_;
  double iteration_start_ = 0;
  std::vector<IterationTiming> timings_;
};

}  // namespace sidestream
