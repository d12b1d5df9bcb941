#include "session/made/made_mesh.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "session/made/bricks.hpp"
#include "session/serving/serving.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// The configuration of the tasks that use a made mesh: they run on the servers that make it, in step with the maker.
Config inner_config(const Config& config) {
  Config inner = config;
  PlacementConfig placement;
  placement.where = config.opening.placement.where;
  inner.opening.placement = placement;
  inner.opening.timings = false;
  inner.live = {};
  return inner;
}

}  // namespace

MadeMesh::MadeMesh(MpiCommunicator& servers, std::size_t group, const Config& config, const Registry& registry,
                   const WorkerSource& source, std::int32_t mesh)
    : mesh_(mesh),
      server_(servers.rank()),
      config_(inner_config(config)),
      serving_(std::make_unique<Serving>(Serving::Group{servers, group, mesh}, config_, registry, source)) {}

MadeMesh::~MadeMesh() = default;

void MadeMesh::begin(const std::vector<std::string>& events, double origin, std::int64_t first) {
  events_ = events;
  constexpr std::uint64_t no_limit = std::numeric_limits<std::int64_t>::max();
  transport_ = std::make_unique<InProcessTransport>(no_limit, WhenFull::wait);
  Publisher::Options options;
  options.timings = false;
  options.stop_on_error = true;  // `end` throws the tasks' failures, on all servers alike
  options.client = static_cast<std::int32_t>(server_);
  options.origin = origin;
  publisher_ = std::make_unique<Publisher>(config_.metadata, events_, config_.steering, options);
  publisher_->attach(*transport_);
  Feed feed;
  feed.transport = transport_.get();
  feed.events = events_;
  feed.origin = origin;
  feed.steers = false;
  feed.gaps = true;
  feed.answers = feed.hears = false;
  feed.index = &index_;
  feed.begun_with = first;
  serving_->begin(std::move(feed));
}

/// Declares this server's blocks, which may change in each iteration, or be none.
void MadeMesh::declare(const std::vector<MadeBlock>& made) {
  std::vector<Block> blocks;
  for (const MadeBlock& one : made) {
    Block& block = blocks.emplace_back(one.block);
    if (!block.is_list()) block.cells = mesh().declared(block.cells);
  }
  const auto stays = [](const Block& a, const Block& b) { return a.id == b.id && a.same_shape(b); };
  if (std::ranges::equal(blocks, declared_, stays)) return;
  publisher_->replace_blocks(mesh().name, blocks);
  declared_ = std::move(blocks);
}

void MadeMesh::publish(const std::vector<MadeBlock>& made) {
  declare(made);
  for (const MadeBlock& block : made) {
    for (const MadeBlock::Array& array : block.arrays) {
      const std::string& name = config_.metadata.variables.at(static_cast<std::size_t>(array.variable)).name;
      publisher_->publish(name, block.block.id, array.values.data(), nullptr);
    }
  }
}

/// Sets attributes of this result, for writers. Tasks see this object's metadata, and run only during the handover.
void MadeMesh::describe(const std::vector<Attribute>& about) {
  if (attributes_.empty()) {
    for (const Variable& variable : config_.metadata.variables) attributes_.push_back(variable.attributes);
  }
  for (Variable& variable : config_.metadata.variables) {
    if (variable.mesh != mesh_ || variable.role != Role::none) continue;
    variable.attributes = attributes_[static_cast<std::size_t>(variable.id)];
    variable.attributes.insert(variable.attributes.end(), about.begin(), about.end());
  }
}

void MadeMesh::take(ResultCatcher& caught, const Iteration& iteration, Communicator& servers) {
  MadeBlock block = made_block(caught, mesh(), config_.metadata);
  block.block.id = server_;
  std::vector<MadeBlock> made;
  if (mesh().axes() != nullptr) {
    made = in_bricks(std::move(block), mesh(), config_.metadata, servers);
  } else if (!block.block.empty()) {
    made.push_back(std::move(block));
  }
  hand_over(made, iteration, servers);
}

void MadeMesh::take_blocks(ResultCatcher& caught, const Iteration& iteration, Communicator& servers) {
  for (ResultCatcher::Blocks& blocks : caught.blocks) {
    const std::vector<MadeBlock> made = made_blocks(blocks.mine, mesh(), config_.metadata);
    describe(blocks.about);
    hand_over(made, iteration, servers);
  }
}

void MadeMesh::hand_over(const std::vector<MadeBlock>& made, const Iteration& iteration, Communicator& servers) {
  servers.barrier();  // all servers leave here if one could not make its blocks
  const std::int64_t refused = publisher_->account().refused;
  std::string failure;
  try {
    publish(made);
  } catch (const std::exception& e) {
    failure = e.what();  // the iteration is refused, which all servers learn of
  }
  index_ = iteration.index;
  publisher_->end(iteration.cycle, iteration.time, [this] { serving_->step(); });
  if (publisher_->account().refused == refused) return;
  fail(Code::analysis, "its result could not be handed to the tasks that use it{}{}", failure.empty() ? "" : ": ",
       failure);
}

void MadeMesh::keep_states(const Iteration& iteration) { serving_->keep_states(iteration); }
void MadeMesh::finish(const Iteration& last) { serving_->finish_tasks(last); }
void MadeMesh::write_owed() { serving_->write_owed(); }

void MadeMesh::report() const { serving_->report(); }

Bytes MakingTask::combine(const CombineInput& input) {
  ResultCatcher caught(input.results, named_, input.communicator.rank() == 0);
  Bytes feedback = task_->combine({input.iteration, input.metadata, input.partials, input.pass, input.communicator,
                                   caught, input.local, input.steering});
  if (mesh_ == nullptr || input.pass + 1 != task_->passes()) return feedback;
  in_blocks_ ? mesh_->take_blocks(caught, input.iteration, input.communicator)
             : mesh_->take(caught, input.iteration, input.communicator);
  return feedback;
}

void MakingTask::keep_state(const Iteration& iteration, Communicator& servers, Results& results) {
  if (auto* const lasting = dynamic_cast<LastingTask*>(task_.get())) lasting->keep_state(iteration, servers, results);
  if (mesh_ != nullptr) mesh_->keep_states(iteration);
}

/// Lets the tasks of the mesh hand over their kept results, after the maker's last result.
void MakingTask::finish(const Iteration& last, Communicator& servers, Results& results) {
  ResultCatcher caught(results, named_, servers.rank() == 0);
  if (auto* const lasting = dynamic_cast<LastingTask*>(task_.get())) lasting->finish(last, servers, caught);
  if (mesh_ == nullptr) return;
  if (in_blocks_) mesh_->take_blocks(caught, last, servers);
  mesh_->finish(last);
}

}  // namespace sidestream
