// An analysis whose `local` runs in a process of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/isolation/worker.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

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
