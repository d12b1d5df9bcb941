// Placement `nodes`, the client's end: copies values into a staging buffer, where servers fetch them.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "transport/mpi/link.hpp"
#include "transport/mpi/value_store.hpp"
#include "transport/region_uses.hpp"

namespace sidestream::mpi {

/// The way in which values leave a client.
enum class Moving {
  fetched,  ///< servers fetch what they need; a thread of this client answers, which takes MPI_THREAD_MULTIPLE
  pushed,   ///< all values go to the contact, in sends that are posted at once, so that any MPI call moves them.
            ///< Fetching would need this client's answer, and it may be waiting for a client that waits for the
            ///< servers.
};

class Client final : public ClientTransport {
 public:
  struct Options {
    int contact = 0;          ///< rank of the server that this client reports to
    std::uint64_t limit = 0;  ///< bytes of the staging buffer that belong to this client only
    WhenFull when_full = WhenFull::wait;
    int max_in_flight = 8;
    Moving moving = Moving::fetched;
    std::shared_ptr<Lender> lender{};  ///< source of more memory; may be null
    std::vector<Contact> others{};     ///< contacts in further groups of servers; each group gets the same as the first
  };
  /// `comm`: clients and servers; used by this transport only, and for the first group of servers.
  Client(std::shared_ptr<MpiCommunicator> comm, const Options& options);
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] bool begin() override;
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent) override;
  [[nodiscard]] bool retire(const BlockRecord& record) override;
  void commit(const BlockRecord& record, const Region& region, bool hold) override;
  void clear(const Region& region) override;
  void declare(const Block& block, bool removed) override;
  void signal(const Signal& signal) override;
  void end(const EndRecord& record) override;
  [[nodiscard]] Settled outcome(std::int64_t index) override;
  void await(std::int64_t index) override;
  [[nodiscard]] News news() override;
  bool drain(std::chrono::milliseconds limit) override;

 private:
  /// Performs one round of the client's communication. Called by the only thread that calls MPI.
  bool move();
  void take_news(Link& link);
  void free_memory();
  void release_settled();
  void send_packets();
  void part();
  void run();
  /// Waits until `ready` returns true (evaluated under the lock) or `deadline` has passed.
  template <class Ready>
  bool wait_for(Ready&& ready, std::chrono::steady_clock::time_point deadline);
  void tell(MessageKind kind);
  void report(std::span<const MessageLine> message);
  void drop_manifest();
  [[nodiscard]] bool threaded() const noexcept { return options_.moving == Moving::fetched; }
  [[nodiscard]] std::optional<Region> try_reserve(std::uint64_t bytes);
  [[nodiscard]] bool never_fits(std::uint64_t bytes);

  std::shared_ptr<MpiCommunicator> comm_;
  Options options_;
  ValueStore value_store_;

  // Shared by the two threads, under the lock.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<RegionUses> uses_;
  std::deque<Bytes> packets_;  ///< packets to send to the contact
  struct Pushed {
    std::int64_t index;
    int tag;
    const std::byte* data;
    std::uint64_t bytes;
  };
  std::deque<Pushed> pushes_;             ///< values to send to the contact
  std::int64_t ended_ = 0, settled_ = 0;  ///< number of iterations ended here; number of them with an outcome
  std::int64_t freed_ = 0;                ///< number of iterations whose memory is free again; never less than settled_
  std::map<std::int64_t, Settled> outcomes_;  ///< outcomes that were not asked for yet
  News news_;
  bool stopping_ = false;
  bool closing_ = false, parted_ = false;  ///< true if it publishes no more; true if servers know that nothing more
                                           ///< comes
  std::exception_ptr broken_;              ///< the exception that ended the thread

  // Used by the publishing thread only.
  std::vector<MessageLine> manifest_;    ///< messages of the current iteration
  MessageWriter writer_, ended_writer_;  ///< the second is a copy from when the iteration began
  std::vector<Pushed> values_;           ///< pushed values of the current iteration
  std::optional<double> stuck_since_;    ///< time since which only other clients could give it room

  // Used by the moving thread only.
  std::deque<Link> links_;  ///< one link for each group of servers
  std::thread thread_;
};

}  // namespace sidestream::mpi
