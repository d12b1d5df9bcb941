// An isolated analysis' process as its server sees it, and the task that uses it. docs/containment.md has the states.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_object.hpp"
#include "base/process.hpp"
#include "server/isolation/worker_messages.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

struct WorkerSettings {
  std::string program;       ///< program to start
  Bytes setup;               ///< from this the worker makes its object
  double limit = 0;          ///< seconds that `local` may take; 0: no limit
  std::uint64_t memory = 0;  ///< bytes that it may allocate; 0: no limit
};

/// Starts the process when it is needed, also after it has died, and gives it one input at a time.
class Worker {
 public:
  explicit Worker(WorkerSettings settings) : settings_(std::move(settings)) {}
  /// Runs `local` in the worker. Throws Error(analysis) if that fails, or if the process dies or has to be ended.
  /// `objects`: memory that the worker can map, the same in every call.
  [[nodiscard]] Bytes local(const LocalInput& input, std::span<const SharedObject> objects);
  /// Discards an iteration. Does nothing unless the worker was asked about it.
  void discard(const Iteration& iteration) noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;
  void start(std::span<const SharedObject> objects);
  void write(const LocalInput& input, std::span<const SharedObject> objects, WorkerRequest& request);
  [[nodiscard]] bool send(WorkerRequest& request, std::span<const SharedObject> objects);
  [[nodiscard]] WorkerReply await(double seconds, const std::string& what);
  [[nodiscard]] bool take(WorkerReply& reply);
  void read_output();
  void take_messages(std::string_view printed);
  void wait(Time until);
  [[noreturn]] void dead(const std::string& what);
  [[noreturn]] void late(double seconds, const std::string& what);
  [[nodiscard]] std::string last_output() const;
  void forget() noexcept;
  [[nodiscard]] BytesView reply_bytes(const WorkerReply& reply) const;

  WorkerSettings settings_;
  MemoryObject sent_, received_;   ///< written by this process; written by the worker
  std::uint64_t sent_length_ = 0;  ///< length of `sent_` that the worker knows
  Descriptor socket_;
  std::unique_ptr<ChildProcess> process_;
  std::string output_;  ///< the end of what it printed since the last request
  std::string unread_;  ///< last line that it printed, possibly incomplete
  std::optional<std::int64_t> asked_;
};

/// A task that exists both here and in the worker. `local` runs there, everything that communicates runs here.
class IsolatedTask final : public Task {
 public:
  /// `objects` must outlive the task. When the first iteration runs, the worker maps the objects that the list then
  /// has.
  IsolatedTask(std::unique_ptr<Task> task, WorkerSettings settings, const std::vector<SharedObject>& objects)
      : task_(std::move(task)), worker_(std::move(settings)), objects_(objects) {}

  [[nodiscard]] Selection selection() const override { return task_->selection(); }
  [[nodiscard]] double tolerance() const override { return task_->tolerance(); }
  [[nodiscard]] int passes() const override { return task_->passes(); }
  [[nodiscard]] Bytes local(const LocalInput& input) override { return worker_.local(input, objects_); }
  Bytes combine(const CombineInput& input) override { return task_->combine(input); }
  void discard(const Iteration& iteration) noexcept override {
    worker_.discard(iteration);
    task_->discard(iteration);
  }
  [[nodiscard]] std::optional<std::string> take_refusal() override { return task_->take_refusal(); }

 private:
  std::unique_ptr<Task> task_;
  Worker worker_;
  const std::vector<SharedObject>& objects_;
};

}  // namespace sidestream
