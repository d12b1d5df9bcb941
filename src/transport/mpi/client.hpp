// Placement `nodes`, the client's end: copies into a staging buffer, sends while the simulation goes on.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/communicator.hpp"
#include "transport/mpi/routes.hpp"
#include "transport/mpi/wire.hpp"
#include "transport/region_pool.hpp"

namespace sidestream::mpi {

class Client final : public ClientTransport {
 public:
  /// `comm`: clients and servers, for this transport alone. `limit`: bytes of the staging buffer.
  Client(std::shared_ptr<MpiCommunicator> comm, Routes routes, std::uint64_t limit, WhenFull when_full,
         int max_in_flight);

  [[nodiscard]] bool begin() override;
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent) override;
  void commit(const BlockRecord& record, const Region& region, bool hold) override;
  void clear(const Region& region) override { uses_.clear(region.data); }
  void declare(const Block& block, bool removed) override;
  void end(const EndRecord& record) override;
  [[nodiscard]] Outcome outcome(std::int64_t index) override;
  [[nodiscard]] std::string failure() override;
  bool drain(std::chrono::milliseconds limit) override;
  [[nodiscard]] double waited() const override { return waited_; }

 private:
  /// What is on its way of one iteration.
  struct Flight {
    std::vector<std::byte*> regions;
    std::vector<MPI_Request> requests;
    std::size_t verdicts = 0;  ///< servers that have answered
    Outcome outcome = Outcome::pending;
  };
  void move();
  void settle(const Verdict& verdict);
  void pause();
  void tell_all(MessageKind kind);
  [[nodiscard]] std::int64_t in_flight() const noexcept;

  std::shared_ptr<MpiCommunicator> comm_;
  Routes routes_;
  RegionUses uses_;
  WhenFull when_full_;
  int max_in_flight_;
  std::map<int, std::vector<Message>> manifests_;  ///< of the current iteration, by server
  struct Value {
    int server, tag;
    std::byte* data;
    std::uint64_t bytes;
  };
  std::vector<Value> values_;  ///< of the current iteration
  std::map<std::int64_t, Flight> flights_;
  std::map<std::int64_t, Outcome> outcomes_;
  Outbox outbox_;
  std::int64_t current_ = 0;
  std::string failure_;
  double waited_ = 0;
};

}  // namespace sidestream::mpi
