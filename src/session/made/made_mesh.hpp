// A mesh that consists of an analysis' results, and the tasks that use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "client/publisher.hpp"
#include "config/config.hpp"
#include "session/made/made_block.hpp"
#include "session/serving/worker_setup.hpp"
#include "sidestream/extend/task.hpp"
#include "transport/in_process/transport.hpp"

namespace sidestream {

class Serving;

/// Publishes results as a mesh; one object per server. Boxes are divided into bricks (bricks.hpp), so that blocks do
/// not depend on the number of servers. Each server publishes its part of lists as the block with its rank as id. The
/// tasks that use the mesh run on all servers before `take` returns, in their own Serving.
class MadeMesh {
 public:
  /// Collective over `servers`. Throws the same Error everywhere. `config` and `registry` outlive it.
  MadeMesh(MpiCommunicator& servers, std::size_t group, const Config& config, const Registry& registry,
           const WorkerSource& source, std::int32_t mesh);
  ~MadeMesh();
  MadeMesh(const MadeMesh&) = delete;
  MadeMesh& operator=(const MadeMesh&) = delete;

  /// Collective. `origin`: now() at the session's start. `first`: the run's iteration with which these servers begin.
  void begin(const std::vector<std::string>& events, double origin, std::int64_t first);
  /// Takes the result of an iteration and runs the due tasks. Collective. Throws their failures, on all servers alike.
  void take(ResultCatcher& caught, const Iteration& iteration, Communicator& servers);
  /// Takes a result in any number of blocks, also none. Collective; see `take`.
  void take_blocks(ResultCatcher& caught, const Iteration& iteration, Communicator& servers);
  void report() const;
  /// Calls the tasks that use the mesh; see LastingTask. Collective.
  void keep_states(const Iteration& iteration);
  void finish(const Iteration& last);
  void write_owed();

 private:
  void declare(const std::vector<MadeBlock>& made);
  void publish(const std::vector<MadeBlock>& made);
  void describe(const std::vector<Attribute>& about);
  void hand_over(const std::vector<MadeBlock>& made, const Iteration& iteration, Communicator& servers);
  [[nodiscard]] const Mesh& mesh() const { return config_.metadata.meshes.at(static_cast<std::size_t>(mesh_)); }

  std::int32_t mesh_;
  std::int64_t server_;
  Config config_;
  std::vector<std::string> events_;
  std::unique_ptr<InProcessTransport> transport_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Serving> serving_;
  std::vector<Block> declared_;                     ///< this server's blocks
  std::vector<std::vector<Attribute>> attributes_;  ///< by variable: attributes of all its results
  std::int64_t index_ = 0;                          ///< of the iteration whose result is taken
};

/// An analysis whose result becomes a mesh. `named`: the files that the configuration names.
class MakingTask final : public Task, public LastingTask {
 public:
  /// `in_blocks`: the task is a BlockMaker.
  MakingTask(std::unique_ptr<Task> task, std::vector<std::string> named, bool in_blocks)
      : task_(std::move(task)), named_(std::move(named)), in_blocks_(in_blocks) {}
  /// Sets the receiver of results, which must outlive the task's work. Without a receiver, results only go to files.
  void set_mesh(MadeMesh* mesh) noexcept { mesh_ = mesh; }

  [[nodiscard]] Selection selection() const override { return task_->selection(); }
  [[nodiscard]] double tolerance() const override { return task_->tolerance(); }
  [[nodiscard]] int passes() const override { return task_->passes(); }
  [[nodiscard]] Bytes local(const LocalInput& input) override { return task_->local(input); }
  Bytes combine(const CombineInput& input) override;
  void discard(const Iteration& iteration) noexcept override { task_->discard(iteration); }
  [[nodiscard]] std::optional<std::string> take_refusal() override { return task_->take_refusal(); }
  void keep_state(const Iteration& iteration, Communicator& servers, Results& results) override;
  void finish(const Iteration& last, Communicator& servers, Results& results) override;

 private:
  std::unique_ptr<Task> task_;
  std::vector<std::string> named_;
  bool in_blocks_;
  MadeMesh* mesh_ = nullptr;
};

}  // namespace sidestream
