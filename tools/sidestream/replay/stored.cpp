#include "stored.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/mpi/agree.hpp"
#include "data/relation_text.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/database/journal.hpp"

namespace sidestream {

namespace {

bool same(const Metadata& a, const Metadata& b) {
  const auto like_mesh = [](const Mesh& x, const Mesh& y) {
    return x.name == y.name && x.kind() == y.kind() && x.cells == y.cells && x.arrays == y.arrays;
  };
  const auto like_variable = [](const Variable& x, const Variable& y) {
    return x.name == y.name && x.mesh == y.mesh && x.type == y.type && x.centering == y.centering &&
           x.components == y.components && x.order == y.order;
  };
  return std::equal(a.meshes.begin(), a.meshes.end(), b.meshes.begin(), b.meshes.end(), like_mesh) &&
         std::equal(a.variables.begin(), a.variables.end(), b.variables.begin(), b.variables.end(), like_variable);
}

/// Relations of a variable whose names are all known: the output may only have a part of the declared variables.
VariableRelations kept_of(VariableRelations relations, const Variable& variable, const Metadata& metadata) {
  const auto keep = [&](auto part) {
    VariableRelations only;
    only.*part = relations.*part;
    const std::vector<std::string> names = named_in(variable.name, only);
    const bool known = std::all_of(names.begin(), names.end(),
                                   [&](const std::string& name) { return metadata.find_variable(name) != nullptr; });
    if (!known) (relations.*part).clear();
  };
  keep(&VariableRelations::parent);
  keep(&VariableRelations::equals);
  keep(&VariableRelations::opposite);
  keep(&VariableRelations::divergence_free);
  if (relations.opposite.empty()) relations.divergence_free.clear();
  return relations;
}

}  // namespace

StoredIterations::StoredIterations(Communicator& clients, const std::string& directory) : directory_(directory) {
  run_collectively(clients, [&] {
    entries_ = database::read_journal(directory).contexts;
    if (entries_.empty()) fail(Code::file, "the database '{}' has no context; there is nothing to replay", directory);
    metadata_ = open(0).metadata();
    const database::Schema& schema = open(0).schema();
    for (Variable& variable : metadata_.variables) {
      variable.relations = kept_of(schema.relations_of(static_cast<std::size_t>(variable.id)), variable, metadata_);
    }
    for (std::size_t n = 1; n < entries_.size(); ++n) {
      if (same(open(n).metadata(), metadata_)) continue;
      fail(Code::file,
           "'{}': the context of cycle {} has other meshes or variables than that of cycle {}; one replay has one set",
           directory, entries_[n].iteration.cycle, entries_[0].iteration.cycle);
    }
  });
}

Iteration StoredIterations::at(std::size_t n) const {
  Iteration then = entries_[n % entries_.size()].iteration;
  const Iteration &first = entries_.front().iteration, &last = entries_.back().iteration;
  const auto round = static_cast<std::int64_t>(n / entries_.size());
  const bool several = entries_.size() > 1;
  const std::int64_t step = several ? std::max<std::int64_t>(1, entries_[1].iteration.cycle - first.cycle) : 1;
  const double pause = several ? entries_[1].iteration.time - first.time : 1;
  then.cycle += round * (last.cycle - first.cycle + step);
  then.time += static_cast<double>(round) * (last.time - first.time + pause);
  return then;
}

database::Context& StoredIterations::open(std::size_t number) {
  if (!context_ || number != number_) {
    context_ = std::make_unique<database::Context>(directory_, entries_.at(number));
    number_ = number;
  }
  return *context_;
}

}  // namespace sidestream
