// Placement `nodes`, the server's end: reads manifests as they arrive, and fetches values when an iteration's turn
// comes.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "transport/inbox_store.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/fetcher.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/standing_fetch.hpp"
#include "transport/mpi/value_store.hpp"

namespace sidestream::mpi {

/// Acts as the contact of some clients: reads their manifests and tells them the outcome of their iterations. Fetches
/// values from any holder.
class Server final : public ServerTransport {
 public:
  struct Options {
    std::vector<int> contacts;       ///< ranks of the clients or forwarders that report to this server, ascending
    std::vector<int> holders;        ///< rank that holds each client's values, by the client's number
    std::vector<ValueShape> shapes;  ///< shapes by variable
    Moving moving = Moving::fetched;
  };
  Server(std::shared_ptr<MpiCommunicator> comm, Options options);

  bool receive(std::chrono::microseconds limit) override;
  [[nodiscard]] ServerState state(std::int64_t index) override { return store_.state(index); }
  void advance(std::int64_t index) override { store_.advance(index); }
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t index, std::span<const Wanted> wanted,
                                                    bool again) override;
  [[nodiscard]] MeasuredRanges ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                      std::span<const RangeRegion> regions) override;
  void release(std::int64_t index, Outcome outcome) override;
  void post_failure(const std::string& message) override;
  [[nodiscard]] bool notify(const Notice& notice) override;
  void finish(const std::string& trouble) override;
  /// Bytes of values received so far.
  [[nodiscard]] std::uint64_t bytes_received() const noexcept {
    return fetcher_.bytes() + standing_.bytes() + pushed_.bytes();
  }

 private:
  void ask_for_ranges(std::int64_t index, int rank, Bytes question);
  [[nodiscard]] std::vector<int> holders_of(std::span<const Wanted> wanted) const;
  void order(std::int64_t index, std::span<const Wanted> wanted);
  void free_values(std::int64_t index);
  bool poll();
  void take(Packet& packet);
  void take_manifest(const Packet& packet);
  void take_message(const Packet& packet, int number, const Message& message);
  void receive_pushed(std::int64_t index);
  void take_out_of_the_way(std::int64_t index);
  template <class Ready>
  void poll_until(Ready&& ready);
  [[nodiscard]] bool pushes() const noexcept { return options_.moving == Moving::pushed; }

  std::shared_ptr<MpiCommunicator> comm_;
  Options options_;
  InboxStore store_;
  std::vector<MessageReader> readers_;  ///< readers by contact
  MessageWriter notices_;
  ValueStore value_store_;  ///< holds pushed values
  ReceiveQueue receive_queue_;
  SendQueue send_queue_;
  Source source_;
  Fetcher fetcher_;
  StandingFetch standing_;
  PushedValues pushed_;
  std::chrono::steady_clock::time_point last_arrival_{};  ///< time of the last message
  std::int64_t range_number_ = 0;
  std::map<int, MeasuredRanges> range_answers_;  ///< answers to the last question, by rank
  std::map<int, Bytes> asked_;                   ///< the last question to each rank
};

}  // namespace sidestream::mpi
