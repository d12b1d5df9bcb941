// The group of servers with which an analysis combines its partial results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sidestream {

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

/// Bytes to or from a member of a group.
struct MemberMessage {
  int member = 0;
  Bytes bytes;
};

/// A group of processes. Every function except rank, size and native is collective: all members call it in the same
/// order. A waiting member yields its core. Counts are 64-bit throughout. Errors of MPI are thrown as Error(system). If
/// one member has no memory for received data, all throw Error(system), and the group can be used further.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  virtual void barrier() = 0;
  /// Reduces element-wise over all members, in place. Sums of integers wrap. There is no sum of reals because its
  /// result would depend on the number of members: use sidestream::ExactSum.
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
  /// Sends any number of messages to each of some members. Returns the messages that arrived here, by ascending sender,
  /// in the order of sending. The cost grows with the amount of data and the logarithm of the group's size, so it suits
  /// exchanges among few members.
  [[nodiscard]] virtual std::vector<MemberMessage> exchange(std::vector<MemberMessage> to) = 0;
  /// The sum of `value` over the members of lower rank; 0 on member 0. Wraps.
  [[nodiscard]] virtual std::int64_t exclusive_sum(std::int64_t value) = 0;
  /// Splits the group: members of equal `color` >= 0 form a new group, in the order of their ranks; null for a negative
  /// color. Destroying the group is collective over its members.
  [[nodiscard]] virtual std::unique_ptr<Communicator> split(int color) = 0;
  /// The MPI_Comm, by address, for operations that this class does not offer. Do not free it.
  [[nodiscard]] virtual void* native() noexcept = 0;
};

/// Calls a function that lives elsewhere. std::function copies, and so allocates: where memory runs out it throws
/// before the work begins, and members of a collective call that did begin would wait. The function must outlive this
/// object.
class CallRef {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, CallRef>>>
  CallRef(F&& function) noexcept
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* f) { static_cast<void>((*static_cast<std::remove_reference_t<F>*>(f))()); }) {}
  void operator()() const { call_(function_); }

 private:
  void* function_;
  void (*call_)(void*);
};

/// Runs `work` everywhere; if it throws anywhere, throws the Error of the lowest member that failed on every member.
/// Collective. `work` must not leave others waiting in a collective call that it did not reach.
void run_collectively(Communicator& members, CallRef work);

/// Runs work that makes several collective calls. If it throws on a member, wherever the others wait in it, it ends on
/// all with the Error of the lowest member that threw first. Collective. Does not nest: a member that caught its
/// exception would be the only one to continue.
void jointly(Communicator& members, CallRef work);

/// Copies member 0's text to every member. Collective.
void share_text(Communicator& all, std::string& text);

}  // namespace sidestream
