// The group of servers an analysis combines its partial results with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sidestream {

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

/// Bytes to or from a member of a group.
struct MemberMessage {
  int member = 0;
  Bytes bytes;
};

/// A group of processes. Every function but rank, size and native is collective: all members call it in the same
/// order. Waiting gives the core away. Counts are 64-bit throughout. Errors of MPI are thrown as Error(system). If one
/// member has no memory for what comes, all throw Error(system) and the group can be used on.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  virtual void barrier() = 0;
  /// Element-wise over all members, in place. Sums of integers wrap; there is no sum of reals because its result
  /// would depend on the number of members: use sidestream::ExactSum.
  virtual void sum(std::span<std::int64_t> values) = 0;
  virtual void minimum(std::span<std::int64_t> values) = 0;
  virtual void minimum(std::span<double> values) = 0;  ///< no NaN
  virtual void maximum(std::span<std::int64_t> values) = 0;
  virtual void maximum(std::span<double> values) = 0;  ///< no NaN
  virtual void bit_or(std::span<std::uint64_t> values) = 0;
  /// Member r's bytes at [r] on `root`, an empty vector elsewhere.
  [[nodiscard]] virtual std::vector<Bytes> gather(BytesView mine, int root) = 0;
  [[nodiscard]] virtual std::vector<Bytes> all_gather(BytesView mine) = 0;
  /// `bytes` of `root` replaces `bytes` everywhere.
  virtual void broadcast(Bytes& bytes, int root) = 0;
  /// to[r] goes to member r; returns what each member sent here.
  [[nodiscard]] virtual std::vector<Bytes> all_to_all(const std::vector<Bytes>& to) = 0;
  /// Sends messages to some members, any number to each; returns those that came here, by ascending sender and in the
  /// order of sending. Costs what is sent and the logarithm of the group's size: for exchanges among few.
  [[nodiscard]] virtual std::vector<MemberMessage> exchange(std::vector<MemberMessage> to) = 0;
  /// The sum of `value` over the members of lower rank; 0 on member 0. Wraps.
  [[nodiscard]] virtual std::int64_t exclusive_sum(std::int64_t value) = 0;
  /// Members of equal `color` >= 0 become a group of their own, in the order of their ranks; null for a negative color.
  /// The group must be given up by all its members alike: that is collective.
  [[nodiscard]] virtual std::unique_ptr<Communicator> split(int color) = 0;
  /// The MPI_Comm, by address, for what is not here. Do not free it.
  [[nodiscard]] virtual void* native() noexcept = 0;
};

}  // namespace sidestream
