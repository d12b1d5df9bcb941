// The process of an isolated analysis as its server sees it, and the task that uses it. docs/containment.md has the
// states.
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
  std::string program;       ///< what to start
  Bytes setup;               ///< what it makes its object from
  double limit = 0;          ///< seconds that `local` may take; 0: any time
  std::uint64_t memory = 0;  ///< bytes that it may allocate; 0: any amount
};

/// Starts the process when it is needed, also after it has died, and gives it one input at a time.
class Worker {
 public:
  explicit Worker(WorkerSettings settings) : settings_(std::move(settings)) {}
  /// Runs `local` in the worker. Throws Error(analysis) if that fails, or if the process dies or has to be
  /// ended. `objects`: memory that it can map, the same in every call.
  [[nodiscard]] Bytes local(const LocalInput& input, std::span<const SharedObject> objects);
  /// Does nothing unless the worker was asked about this iteration.
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
  [[nodiscard]] std::string said() const;
  void forget() noexcept;
  [[nodiscard]] BytesView reply_bytes(const WorkerReply& reply) const;

  WorkerSettings settings_;
  MemoryObject sent_, received_;  ///< written here, written there
  std::uint64_t told_ = 0;        ///< the length of `sent_` that the worker knows
  Descriptor socket_;
  std::unique_ptr<ChildProcess> process_;
  std::string output_;  ///< the end of what it printed since the last request
  std::string unread_;  ///< the last line that it printed, as far as it has come
  std::optional<std::int64_t> asked_;
};

/// The same task exists here and in the worker. `local` runs there, everything that communicates runs here.
class IsolatedTask final : public Task {
 public:
  /// `objects` must outlive the task. The worker maps the objects that are in it when the first iteration runs.
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
