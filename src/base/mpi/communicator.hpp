// MPI behind the Communicator contract, and the few further calls that opening a session needs.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/mpi/joint_work.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

class Requests;

/// True if MPI_Finalize has been called.
[[nodiscard]] bool mpi_is_finalized();
/// True if MPI was initialised with MPI_THREAD_MULTIPLE: any thread may call it.
[[nodiscard]] bool mpi_allows_threads();

/// The library's own communicator. Owns a duplicate of the one it is made from and frees it; MPI errors are thrown as
/// Error(system). The destructor is collective over the members, as MPI_Comm_free is.
class MpiCommunicator final : public Communicator {
 public:
  /// Duplicates `comm`. Collective. Throws on all its processes if one has no memory.
  explicit MpiCommunicator(MPI_Comm comm);
  /// Makes one on the heap.
  [[nodiscard]] static std::unique_ptr<MpiCommunicator> over(MPI_Comm comm);
  /// A duplicate, which takes part in the joint work of the other. Collective over its members.
  [[nodiscard]] std::unique_ptr<MpiCommunicator> duplicate();
  ~MpiCommunicator() override;
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  /// True if joint work runs: an exception then ends it on all members, without further agreement.
  [[nodiscard]] bool is_joint() const noexcept { return joint_ != nullptr; }
  /// Throws if another member has failed. Collective if joint work runs, otherwise does nothing.
  void check() const;

  void barrier() override;
  void sum(std::span<std::int64_t> values) override;
  void minimum(std::span<std::int64_t> values) override;
  void minimum(std::span<double> values) override;
  void maximum(std::span<std::int64_t> values) override;
  void maximum(std::span<double> values) override;
  void bit_or(std::span<std::uint64_t> values) override;
  [[nodiscard]] std::vector<Bytes> gather(BytesView mine, int root) override;
  [[nodiscard]] std::vector<Bytes> all_gather(BytesView mine) override;
  void broadcast(Bytes& bytes, int root) override;
  [[nodiscard]] std::vector<Bytes> all_to_all(const std::vector<Bytes>& to) override;
  [[nodiscard]] std::vector<MemberMessage> exchange(std::vector<MemberMessage> to) override;
  [[nodiscard]] std::int64_t exclusive_sum(std::int64_t value) override;
  [[nodiscard]] std::unique_ptr<Communicator> split(int color) override { return group(color); }
  [[nodiscard]] void* native() noexcept override { return &comm_; }
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }

  /// `split`, with the static type of this class.
  [[nodiscard]] std::unique_ptr<MpiCommunicator> group(int color) const;
  /// The members that share this node's memory, ordered by their ranks here. Collective.
  [[nodiscard]] std::unique_ptr<MpiCommunicator> split_by_node() const;
  /// Sets a function that is called between tests while any of the functions above waits. It must not throw: others
  /// have continued.
  void set_meanwhile(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  /// Sets the length above which messages are sent in pieces, for tests.
  void set_longest_message(std::size_t bytes) noexcept { piece_ = bytes; }

 private:
  friend class JointWork;
  struct Unset {};
  explicit MpiCommunicator(Unset) : member_(std::make_unique<JointMember>()) {}
  void adopt(MPI_Comm comm);
  template <class Make>
  std::unique_ptr<MpiCommunicator> derive(Make&& make) const;
  void reduce(void* values, std::size_t count, MPI_Datatype type, MPI_Op op, std::size_t size);
  void wait(MPI_Request& request) const;
  template <class Prepare>
  void prepare(Prepare&& prepare);
  void agree_on_memory(bool enough);
  void make_sizes();
  template <class Send, class Receive>
  void double_round_ring(Requests& requests, Send&& send, Receive&& receive);
  void gather_sizes(std::uint64_t mine);
  struct MessageView {
    int member;
    BytesView bytes;
  };
  [[nodiscard]] std::vector<MemberMessage> send_sparse(std::span<const MessageView> to, std::size_t more);
  template <class Receive>
  void swap_sizes(std::span<const MessageView> to, std::vector<MPI_Request>& sending, Receive&& receive);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::size_t piece_ = std::size_t{1} << 30;  ///< MPI counts are ints: longer messages go in pieces of this many bytes
  std::vector<std::uint64_t> in_sizes_;       ///< by member; a member here so that there is memory for them when needed
  std::vector<std::uint64_t> out_lengths_;    ///< lengths of the messages of `exchange`
  std::function<void()> meanwhile_;
  std::unique_ptr<JointMember> member_;
  JointWork* joint_ = nullptr;  ///< the joint work that runs
};

/// Throws on all processes of `comm` if one has no memory, before there is a communicator of ours. Collective.
void agree_on_beginning(MPI_Comm comm, bool enough);

/// Reserves memory, or throws on all members. Collective. Nothing after it needs memory.
template <class Prepare>
void MpiCommunicator::prepare(Prepare&& prepare) {
  bool enough = true;
  try {
    prepare();
  } catch (const std::bad_alloc&) {
    enough = false;
  } catch (const std::length_error&) {
    enough = false;
  }
  agree_on_memory(enough);
}

}  // namespace sidestream
