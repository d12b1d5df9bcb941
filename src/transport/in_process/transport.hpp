// Placement `inline`: client and server are the same rank; publishing copies into this process' memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/extend/transport.hpp"
#include "transport/inbox_store.hpp"
#include "transport/region_pool.hpp"

namespace sidestream {

/// Both ends in one object. `end` makes the iteration complete for the server end; nothing ever waits.
class InProcessTransport final : public ClientTransport, public ServerTransport {
 public:
  /// `limit`: most bytes of values held at any time.
  InProcessTransport(std::uint64_t limit, WhenFull when_full)
      : uses_(std::make_shared<RegionUses>(limit)), store_(1), when_full_(when_full) {}

  [[nodiscard]] bool begin() override { return true; }
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent) override;
  [[nodiscard]] bool retire(const BlockRecord& record) override;
  void commit(const BlockRecord& record, const Region& region, bool hold) override;
  void clear(const Region& region) override { uses_->clear(region.data); }
  [[nodiscard]] std::shared_ptr<const void> memory() const override { return uses_; }
  void declare(const Block& block, bool removed) override { store_.declare(0, block, removed); }
  void signal(const Signal& signal) override { store_.signal(0, signal); }
  void end(const EndRecord& record) override { store_.end(0, record); }
  [[nodiscard]] Outcome outcome(std::int64_t index) override;
  void await(std::int64_t) override {}  // The servers work while the iteration ends, so there is nothing to wait for.
  [[nodiscard]] std::string failure() override;
  [[nodiscard]] std::vector<Notice> notices() override { return std::exchange(notices_, {}); }
  bool drain(std::chrono::milliseconds) override;
  [[nodiscard]] double waited() const override { return 0; }

  [[nodiscard]] int clients() const override { return 1; }
  bool receive(std::chrono::microseconds) override { return false; }
  [[nodiscard]] const Inbox& inbox(std::int64_t index) override { return store_.inbox(index); }
  [[nodiscard]] int ended(std::int64_t index) const override { return store_.ended(index); }
  [[nodiscard]] int pending(std::int64_t index) const override { return store_.pending(index); }
  [[nodiscard]] bool abandoned() const override { return false; }
  bool advance(std::int64_t index) override { return store_.advance(index); }
  [[nodiscard]] const std::vector<Block>& blocks() const override { return store_.blocks(); }
  [[nodiscard]] std::vector<BlockChange> take_changes() override { return store_.take_changes(); }
  [[nodiscard]] const std::vector<Arrival>& persistent() const override { return store_.persistent(); }
  [[nodiscard]] bool values_in_place() const override { return true; }
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t, std::span<const Wanted>) override { return {}; }
  [[nodiscard]] std::vector<BlockRange> ranges(std::int64_t index, std::span<const RangeRequest> requests) override {
    return store_.ranges(index, requests, nullptr);
  }
  void release(std::int64_t index, Outcome outcome) override;
  void post_failure(const std::string& message) override { failure_ = message; }
  [[nodiscard]] bool notify(const Notice& notice) override;
  [[nodiscard]] std::uint64_t bytes_received() const override { return store_.bytes(); }

 private:
  std::shared_ptr<RegionUses> uses_;
  InboxStore store_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::byte*> persistent_data_;
  std::vector<std::byte*> replaced_;  ///< persistent regions that the next release frees
  std::map<std::int64_t, Outcome> outcomes_;
  std::string failure_;
  std::vector<Notice> notices_;
  WhenFull when_full_;
};

}  // namespace sidestream
