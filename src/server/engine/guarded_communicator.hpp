// Communicator in which an exception on one member ends the work of all, wherever they are in it.
#pragma once

#include <string>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Before each communication all members exchange whether they got there. A member whose work has thrown reports
/// failure, and the others throw instead of waiting for it. That costs a reduction of one number each time.
class GuardedCommunicator final : public Communicator {
 public:
  /// `inner` must outlive this object; nothing else may use it while `attempt` runs.
  explicit GuardedCommunicator(Communicator& inner) : inner_(inner) {}

  /// Collective. Runs `work` on every member; it must communicate through this object only. If it throws on one member,
  /// it ends on all. Returns the message of the lowest member that threw (shortened on a member that has no memory for
  /// it), or empty if all is well. Throws only if MPI fails.
  [[nodiscard]] std::string attempt(CallRef work);

  [[nodiscard]] int rank() const noexcept override { return inner_.rank(); }
  [[nodiscard]] int size() const noexcept override { return inner_.size(); }
  void barrier() override { check(), inner_.barrier(); }
  void sum(std::span<std::int64_t> values) override { check(), inner_.sum(values); }
  void minimum(std::span<std::int64_t> values) override { check(), inner_.minimum(values); }
  void minimum(std::span<double> values) override { check(), inner_.minimum(values); }
  void maximum(std::span<std::int64_t> values) override { check(), inner_.maximum(values); }
  void maximum(std::span<double> values) override { check(), inner_.maximum(values); }
  void bit_or(std::span<std::uint64_t> values) override { check(), inner_.bit_or(values); }
  [[nodiscard]] std::vector<Bytes> gather(BytesView mine, int root) override {
    return check(), inner_.gather(mine, root);
  }
  [[nodiscard]] std::vector<Bytes> all_gather(BytesView mine) override { return check(), inner_.all_gather(mine); }
  void broadcast(Bytes& bytes, int root) override { check(), inner_.broadcast(bytes, root); }
  [[nodiscard]] std::vector<Bytes> all_to_all(const std::vector<Bytes>& to) override {
    return check(), inner_.all_to_all(to);
  }
  [[nodiscard]] std::vector<MemberMessage> exchange(std::vector<MemberMessage> to) override {
    return check(), inner_.exchange(std::move(to));
  }
  [[nodiscard]] std::int64_t exclusive_sum(std::int64_t value) override { return check(), inner_.exclusive_sum(value); }
  /// The resulting groups are not guarded, since their members differ.
  [[nodiscard]] std::unique_ptr<Communicator> split(int color) override { return check(), inner_.split(color); }
  [[nodiscard]] void* native() noexcept override { return inner_.native(); }

 private:
  void share_status(bool well);
  void check();

  Communicator& inner_;
  bool broken_ = false;  ///< true if some member has thrown; known to all
};

}  // namespace sidestream
