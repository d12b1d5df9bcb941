// Placement `job`, on the ranks that send: a server's end whose outcomes the reader of the stream decides.
#pragma once

#include <memory>

#include "sidestream/extend/transport.hpp"
#include "transport/staging/context.hpp"

namespace sidestream::staging {

/// Passes everything on; an iteration that no reader took is refused and not failed.
class Forwarder final : public ServerTransport {
 public:
  Forwarder(std::shared_ptr<ServerTransport> inner, std::shared_ptr<StreamContext> context)
      : inner_(std::move(inner)), context_(std::move(context)) {}

  [[nodiscard]] int clients() const override { return inner_->clients(); }
  bool receive(std::chrono::microseconds limit) override { return inner_->receive(limit); }
  [[nodiscard]] const Inbox& inbox(std::int64_t index) override { return inner_->inbox(index); }
  [[nodiscard]] int ended(std::int64_t index) const override { return inner_->ended(index); }
  [[nodiscard]] int pending(std::int64_t index) const override { return inner_->pending(index); }
  [[nodiscard]] bool abandoned() const override { return inner_->abandoned(); }
  bool advance(std::int64_t index) override { return inner_->advance(index); }
  [[nodiscard]] const std::vector<Block>& blocks() const override { return inner_->blocks(); }
  [[nodiscard]] const std::vector<Arrival>& persistent() const override { return inner_->persistent(); }
  [[nodiscard]] bool values_in_place() const override { return inner_->values_in_place(); }
  [[nodiscard]] std::vector<SharedObject> shared_objects() const override { return inner_->shared_objects(); }
  [[nodiscard]] std::vector<BlockChange> take_changes() override { return inner_->take_changes(); }
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t index, std::span<const Wanted> wanted) override {
    return inner_->fetch(index, wanted);
  }
  [[nodiscard]] std::vector<BlockRange> ranges(std::int64_t index, std::span<const RangeRequest> requests) override {
    return inner_->ranges(index, requests);
  }
  void expect_same(std::int64_t index, std::span<const Wanted> wanted) override { inner_->expect_same(index, wanted); }
  void finish() override { inner_->finish(); }
  [[nodiscard]] bool notify(const Notice& notice) override { return inner_->notify(notice); }
  void free_values(std::int64_t index) override { inner_->free_values(index); }
  [[nodiscard]] Outcome verdict(std::int64_t index, Outcome outcome) const override {
    return context_->refused == index ? Outcome::refused : outcome;
  }
  void release(std::int64_t index, Outcome outcome) override {
    inner_->release(index, verdict(index, outcome));
    if (context_->refused == index) context_->refused = -1;
  }
  void post_failure(const std::string& message) override { inner_->post_failure(message); }
  void leave(const std::string& why) override { inner_->leave(why); }
  [[nodiscard]] std::uint64_t bytes_received() const override { return inner_->bytes_received(); }

 private:
  std::shared_ptr<ServerTransport> inner_;
  std::shared_ptr<StreamContext> context_;
};

}  // namespace sidestream::staging
