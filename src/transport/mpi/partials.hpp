// Transfer of partial results from forwarders to servers: placement `nodes` with `forward: partials`.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/extend/combination.hpp"
#include "transport/mpi/packet.hpp"

namespace sidestream::mpi {

/// Body of a packet of kind `partial`; the values follow.
struct PartialHeader {
  Iteration iteration;
  std::int32_t task = 0;
  std::int32_t pass = 0;
  std::uint64_t bytes = 0;
  std::uint32_t none = 0;  ///< 1: the receiver takes part without a partial; no values follow and no answer is expected
  std::uint32_t reserved = 0;
};

class Sender final : public PartialSender {
 public:
  /// `server`: rank that combines this rank's partials. `others`: servers that no rank reports to; this rank announces
  /// rounds to them.
  Sender(std::shared_ptr<MpiCommunicator> comm, int server, std::vector<int> others);
  [[nodiscard]] std::string combine(const PartialRound& round, BytesView partial, Bytes& feedback) override;
  void close() override;
  void set_meanwhile(std::function<void()> meanwhile) override { meanwhile_ = std::move(meanwhile); }

 private:
  std::shared_ptr<MpiCommunicator> comm_;
  int server_;
  std::vector<int> others_;
  ReceiveQueue receive_queue_;
  SendQueue send_queue_;
  std::function<void()> meanwhile_;
};

class Receiver final : public PartialReceiver {
 public:
  /// `reporters`: ranks that send partials to this server, or the one rank that announces rounds to it.
  Receiver(std::shared_ptr<MpiCommunicator> comm, const std::vector<int>& reporters);
  /// Waits until MPI no longer writes to this object's memory.
  ~Receiver() override;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  [[nodiscard]] std::optional<ReceivedRound> next() override;
  void answer(const std::string& failure, BytesView feedback) override;

 private:
  struct Coming {
    PartialHeader packet;
    Bytes bytes;
    std::vector<MPI_Request> requests;
    bool last = false;  ///< true if the reporter has closed
  };
  void poll();
  [[nodiscard]] bool complete();
  std::shared_ptr<MpiCommunicator> comm_;
  std::map<int, std::deque<Coming>> coming_;  ///< pending partials by reporter
  ReceiveQueue receive_queue_;
  SendQueue send_queue_;
  std::vector<int> to_answer_;
};

}  // namespace sidestream::mpi
