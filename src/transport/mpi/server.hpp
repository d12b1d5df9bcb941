// Placement `nodes`, the server's end: reads manifests as they come, fetches values when their iteration's turn comes.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/communicator.hpp"
#include "transport/inbox_store.hpp"
#include "transport/mpi/wire.hpp"
#include "transport/region_pool.hpp"

namespace sidestream::mpi {

/// Values wait in the clients' staging buffers until `fetch`, so that a server holds one iteration at a time.
class Server final : public ServerTransport {
 public:
  /// `clients`: ranks in `comm` of the clients that send here, ascending.
  Server(std::shared_ptr<MpiCommunicator> comm, std::vector<int> clients);

  [[nodiscard]] int clients() const override { return store_.clients(); }
  bool receive(std::chrono::microseconds limit) override;
  [[nodiscard]] const Inbox& inbox(std::int64_t index) override { return store_.inbox(index); }
  [[nodiscard]] int ended(std::int64_t index) const override { return store_.ended(index); }
  [[nodiscard]] int pending(std::int64_t index) const override { return store_.pending(index); }
  [[nodiscard]] bool abandoned() const override { return store_.abandoned(); }
  bool advance(std::int64_t index) override;
  [[nodiscard]] const std::vector<Block>& blocks() const override { return store_.blocks(); }
  [[nodiscard]] const std::vector<Arrival>& persistent() const override { return store_.persistent(); }
  [[nodiscard]] bool at_hand() const override { return true; }
  [[nodiscard]] std::vector<Arrival> fetch(std::int64_t index, std::span<const Wanted> wanted) override;
  [[nodiscard]] std::vector<BlockRange> ranges(std::int64_t index, std::span<const RangeRequest> requests) override {
    return store_.ranges(index, requests);
  }
  void release(std::int64_t index, Outcome outcome) override;
  void post_failure(const std::string& message) override;
  [[nodiscard]] std::uint64_t bytes_received() const override { return store_.bytes(); }

 private:
  void fetch_all(std::int64_t index);
  struct Expected {
    int source;
    std::uint64_t bytes;
    std::byte* data;    ///< null until fetched
    std::size_t place;  ///< of the arrival in its inbox
  };
  bool take_manifests();
  void take(int client, const Message& message);
  void take_block(int client, const BlockRecord& record);
  void receive_values(const std::vector<Expected>& expected, int tag);

  std::shared_ptr<MpiCommunicator> comm_;
  std::vector<int> ranks_;
  InboxStore store_;
  RegionPool pool_;
  std::map<std::int64_t, std::vector<Expected>> values_, persistent_values_;  ///< by iteration, in the order sent
  std::map<std::pair<std::int32_t, std::int64_t>, std::byte*> persistent_data_;
  std::multimap<std::int64_t, std::byte*> replaced_;  ///< persistent memory to free with that iteration
  Outbox outbox_;
};

}  // namespace sidestream::mpi
