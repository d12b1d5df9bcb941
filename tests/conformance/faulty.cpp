// Analyses, an output and partitioners that break their contracts, each in one way.
#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "sidestream/extend/plugin.hpp"

namespace {

using namespace sidestream;

/// Fails on the last member, while the others go on to a collective operation.
void fail_on_last(const CombineInput& input) {
  if (input.communicator.rank() + 1 == input.communicator.size()) throw Error(Code::analysis, "the last one cannot");
}

/// Adds up a variable of whole numbers, rightly unless there is a `fault`.
class Sum final : public Task {
 public:
  Sum(std::string fault, const Settings& settings, const Metadata& metadata)
      : fault_(std::move(fault)), variable_(metadata.find_variable(settings.text("variable"))->id) {}

  [[nodiscard]] Selection selection() const override {
    if (fault_ == "pieces") return {{Selected(variable_, 1, AllBlocks{}, Decomposition::pencils(0))}};  // no fault
    return {{{variable_}}};
  }
  [[nodiscard]] int passes() const override { return fault_ == "feedback" ? 2 : 1; }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    std::int64_t sum = fault_ == "state" ? before_ : 0;
    if (fault_ == "no_block" && input.of(variable_).empty()) throw Error(Code::analysis, "there is no block");
    for (const BlockView& block : input.at(0)) {
      if (fault_ == "ghosts") {
        add(block.array, block.array.box, sum);
      } else if (fault_ == "shared") {
        add(block.array, block.points, sum);
      } else {
        for (const Box& box : block.owned) add(block.array, box, sum);
      }
      if (fault_ == "blocks") ++sum;  // the result depends on the division of the mesh
    }
    if (fault_ == "members") {  // other objects may run combine
      before_ = sum;
      sum = 0;
    }
    if (fault_ == "memory") lose_memory();
    Bytes bytes(sizeof sum);
    std::memcpy(bytes.data(), &sum, sizeof sum);
    return bytes;
  }

  Bytes combine(const CombineInput& input) override {
    std::int64_t sum = fault_ == "members" ? before_ : 0;
    for (const Bytes& partial : input.partials) {
      std::int64_t part = 0;
      std::memcpy(&part, partial.data(), sizeof part);
      sum += part;
      if (fault_ == "first_partial") break;
    }
    if (fault_ == "feedback") return Bytes(static_cast<std::size_t>(input.communicator.rank()) + 1);
    if (fault_ == "one_server") fail_on_last(input);
    input.communicator.sum({&sum, 1});
    if (fault_ == "state") before_ = sum;
    input.results.add("sum.csv", Table{{"sum"}, {{sum + lost_}}});
    return {};
  }

 private:
  /// Does not handle a lack of memory: later results are wrong after it.
  void lose_memory() {
    ++lost_;
    const auto some = std::make_unique<std::string>(100, ' ');
    lost_ -= some->size() == 100;
  }

  void add(const ArrayView& array, const Box& box, std::int64_t& sum) const {
    std::vector<double> values(static_cast<std::size_t>(box.count()));
    copy_to_double(array, 0, box, values.data(), box);
    for (const double value : values) sum += std::isfinite(value) ? static_cast<std::int64_t>(value) : 0;
  }

  std::string fault_;
  std::int32_t variable_;
  std::int64_t before_ = 0, lost_ = 0;
};

/// Writes a file, and keeps it when it is told to discard.
class Littering final : public Task {
 public:
  explicit Littering(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}
  [[nodiscard]] Selection selection() const override { return {}; }
  [[nodiscard]] Bytes local(const LocalInput& input) override {
    const std::string path = directory_->path("litter-{index}-{server}.txt", input.iteration, input.server);
    std::ofstream(directory_->temporary(path)) << "litter\n";
    return {};
  }
  Bytes combine(const CombineInput& input) override {
    directory_->commit(directory_->path("litter-{index}-{server}.txt", input.iteration, input.communicator.rank()));
    return {};
  }

 private:
  std::shared_ptr<const OutputDirectory> directory_;
};

/// Fails on one server, while the others go on.
class Stubborn final : public Task {
 public:
  [[nodiscard]] Selection selection() const override { return {}; }
  [[nodiscard]] Bytes local(const LocalInput&) override { return {}; }
  Bytes combine(const CombineInput& input) override {
    fail_on_last(input);
    input.communicator.barrier();
    return {};
  }
};

/// Gives another plan each time.
Plan changing_plan(const PlanInput& input, const Settings&) {
  static std::atomic<int> calls{0};
  Plan plan;
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const auto server = static_cast<std::int32_t>((static_cast<std::size_t>(++calls) + b) % input.servers);
    plan.pieces.push_back({static_cast<std::int64_t>(b), server, 0, input.blocks[b].block.cells});
  }
  return plan;
}

/// Gives one server the same block twice.
Plan doubling_plan(const PlanInput& input, const Settings&) {
  Plan plan;
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const PlanPiece piece{static_cast<std::int64_t>(b), 0, 0, input.blocks[b].block.cells};
    plan.pieces.insert(plan.pieces.end(), {piece, piece});
  }
  return plan;
}

/// Gives cells that the block does not have.
Plan overreaching_plan(const PlanInput& input, const Settings&) {
  Plan plan;
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    PlanPiece piece{static_cast<std::int64_t>(b), 0, 0, input.blocks[b].block.cells};
    ++piece.cells.hi[0];
    plan.pieces.push_back(piece);
  }
  return plan;
}

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  for (const char* fault : {"none", "pieces", "ghosts", "shared", "blocks", "no_block", "members", "first_partial",
                            "state", "feedback", "memory", "one_server"}) {
    AnalysisKind kind;
    kind.name = std::string("sum_") + fault;
    kind.options = {{.name = "variable", .type = OptionType::variable, .required = true}};
    kind.create = [fault](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
      return std::make_unique<Sum>(fault, settings, metadata);
    };
    registry.add(std::move(kind));
  }
  WriterKind writer;
  writer.name = "litter";
  writer.create = [](const Settings&, const Metadata&,
                     std::shared_ptr<const OutputDirectory> directory) -> std::unique_ptr<Task> {
    return std::make_unique<Littering>(std::move(directory));
  };
  registry.add(std::move(writer));
  WriterKind stubborn;
  stubborn.name = "stubborn";
  stubborn.create = [](const Settings&, const Metadata&,
                       std::shared_ptr<const OutputDirectory>) -> std::unique_ptr<Task> {
    return std::make_unique<Stubborn>();
  };
  registry.add(std::move(stubborn));
  using Planning = Plan (*)(const PlanInput&, const Settings&);
  for (const auto& [name, plan] : std::initializer_list<std::pair<const char*, Planning>>{
           {"changing", changing_plan}, {"doubling", doubling_plan}, {"overreaching", overreaching_plan}}) {
    PartitionerKind partitioner;
    partitioner.name = name;
    partitioner.plan = plan;
    registry.add(std::move(partitioner));
  }
}
