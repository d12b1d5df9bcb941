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
#include "transport/region_uses.hpp"

namespace sidestream {

/// Implements both ends in one object. `end` completes the iteration for the server end, so nothing ever waits.
class InProcessTransport final : public ClientTransport, public ServerTransport {
 public:
  /// `limit`: maximum bytes of values held at any time.
  InProcessTransport(std::uint64_t limit, WhenFull when_full)
      : ServerTransport({1, true}), uses_(std::make_shared<RegionUses>(limit)), store_(1), when_full_(when_full) {
    memory_ = uses_;
  }

  [[nodiscard]] bool begin() override { return true; }
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent) override;
  [[nodiscard]] bool retire(const BlockRecord& record) override;
  void commit(const BlockRecord& record, const Region& region, bool hold) override;
  void clear(const Region& region) override { uses_->clear(region.data); }
  void declare(const Block& block, bool removed) override { store_.declare(0, block, removed); }
  void signal(const Signal& signal) override { store_.signal(0, signal); }
  void end(const EndRecord& record) override { store_.end(0, record); }
  [[nodiscard]] Settled outcome(std::int64_t index) override;
  void await(std::int64_t) override {}  // The servers work while the iteration ends, so there is nothing to wait for.
  [[nodiscard]] News news() override { return std::exchange(news_, {}); }
  bool drain(std::chrono::milliseconds) override;

  bool receive(std::chrono::microseconds) override { return false; }
  [[nodiscard]] ServerState state(std::int64_t index) override { return store_.state(index); }
  void advance(std::int64_t index) override { store_.advance(index); }
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t, std::span<const Wanted>, bool) override { return {}; }
  [[nodiscard]] MeasuredRanges ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                      std::span<const RangeRegion> regions) override {
    return store_.ranges(index, requests, regions, nullptr);
  }
  void release(std::int64_t index, Outcome outcome) override;
  void post_failure(const std::string& message) override { news_.failure = message; }
  [[nodiscard]] bool notify(const Notice& notice) override;
  void finish(const std::string& trouble) override {
    if (!trouble.empty()) post_failure(trouble);
  }

 private:
  std::shared_ptr<RegionUses> uses_;
  InboxStore store_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::byte*> persistent_data_;
  std::vector<std::byte*> replaced_;  ///< persistent regions that the next release frees
  std::map<std::int64_t, Outcome> outcomes_;
  News news_;
  WhenFull when_full_;
};

}  // namespace sidestream
