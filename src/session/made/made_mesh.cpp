#include "session/made/made_mesh.hpp"

#include <limits>
#include <utility>

#include "session/serving/serving.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// The configuration of the tasks that use a made mesh: they run where the result is, in step with the maker.
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

void MadeMesh::begin(const std::vector<std::string>& events, double origin) {
  events_ = events;
  constexpr std::uint64_t no_limit = std::numeric_limits<std::int64_t>::max();
  transport_ = std::make_unique<InProcessTransport>(no_limit, WhenFull::wait);
  Publisher::Options options;
  options.timings = false;
  options.stop_on_error = true;  // `end` throws what failed in the tasks, on all servers alike
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
  serving_->begin(std::move(feed));
}

/// Declares this server's block, which may have another shape in each iteration, or be missing.
void MadeMesh::declare(const Block& block) {
  const std::string& name = config_.metadata.meshes.at(static_cast<std::size_t>(mesh_)).name;
  if (block.empty()) {
    if (declared_) publisher_->remove_block(name, server_);
    declared_ = false;
    return;
  }
  if (declared_ && block.same_shape(block_)) return;
  Block mine = block;
  mine.id = server_;
  publisher_->set_block(name, mine);
  declared_ = true;
  block_ = block;
}

void MadeMesh::publish(const MadeBlock& made) {
  declare(made.block);
  if (!declared_) return;
  for (const MadeBlock::Array& array : made.arrays) {
    const std::string& name = config_.metadata.variables.at(static_cast<std::size_t>(array.variable)).name;
    publisher_->publish(name, server_, array.values.data(), nullptr);
  }
}

void MadeMesh::take(ResultCatcher& caught, const CombineInput& input) {
  const Metadata& metadata = config_.metadata;
  const MadeBlock made = made_block(caught, metadata.meshes.at(static_cast<std::size_t>(mesh_)), metadata);
  input.communicator.barrier();  // here all servers leave if one could not make its block
  const std::int64_t refused = publisher_->account().refused;
  std::string failure;
  try {
    publish(made);
  } catch (const std::exception& e) {
    failure = e.what();  // the iteration is refused, which all servers learn of
  }
  index_ = input.iteration.index;
  publisher_->end(input.iteration.cycle, input.iteration.time, [this] { serving_->step(); });
  if (publisher_->account().refused == refused) return;
  fail(Code::analysis, "its result could not be handed to the tasks that use it{}{}", failure.empty() ? "" : ": ",
       failure);
}

void MadeMesh::report() const { serving_->report(); }

Bytes MakingTask::combine(const CombineInput& input) {
  ResultCatcher caught(input.results, named_, input.communicator.rank() == 0);
  Bytes feedback = task_->combine({input.iteration, input.metadata, input.partials, input.pass, input.communicator,
                                   caught, input.local, input.steering});
  if (mesh_ != nullptr && input.pass + 1 == task_->passes()) mesh_->take(caught, input);
  return feedback;
}

}  // namespace sidestream
