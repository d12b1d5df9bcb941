// Blocks of unstructured meshes and of points, made by hand, as an analysis sees them on a server.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"
#include "support/fake_domain.hpp"

namespace sidestream::testing {

/// Values of a variable on a block; the components of an entry are adjacent.
using ListValues =
    std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>, std::vector<std::uint8_t>>;

/// A block: the lengths of its lists, and the values of each variable by its name.
struct ListBlock {
  Index cells = 0, points = 0, corners = 0;
  std::map<std::string, ListValues> values;
  bool operator<(const ListBlock&) const = delete;
};

/// A mesh of lists with the name "m", and its variables.
struct ListDomain {
  ListDomain(MeshKind kind, int dimensions) {
    metadata.meshes.push_back({0, "m", {}, dimensions, std::make_shared<ArrayGeometry>(kind)});
  }
  void add(const std::string& name, Type type, int components, Centering centering, Role role = Role::none) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata.variables.size());
    v.name = name;
    v.mesh = 0;
    v.type = type;
    v.components = components;
    v.centering = reduced(centering, metadata.meshes[0].dimensions);
    v.role = role;
    if (role != Role::none) metadata.meshes[0].arrays[static_cast<std::size_t>(role)] = v.id;
    metadata.variables.push_back(v);
  }
  Metadata metadata;
};

/// Views of the blocks with these ids. `flags` is the variable whose values flag points or cells.
inline std::vector<std::vector<BlockView>> views_of(const ListDomain& domain, const std::vector<ListBlock>& blocks,
                                                    const std::vector<std::size_t>& ids) {
  std::vector<std::vector<BlockView>> views(domain.metadata.variables.size());
  for (const std::size_t id : ids) {
    const ListBlock& block = blocks[id];
    for (const Variable& variable : domain.metadata.variables) {
      const auto found = block.values.find(variable.name);
      if (found == block.values.end()) continue;
      BlockView view;
      view.block.id = static_cast<std::int64_t>(id);
      view.block.space = IndexSpace::list;
      view.block.cells = list_box(block.cells);
      view.block.lengths = {block.points, block.corners, 0};
      view.points = variable.points(view.block);
      view.owned = {view.points};
      view.array.type = variable.type;
      view.array.box = view.points;
      view.array.components = variable.components;
      view.array.strides = packed_strides(view.points, variable.components, Order::column);
      view.array.data = std::visit([](const auto& v) -> const void* { return v.data(); }, found->second);
      views[static_cast<std::size_t>(variable.id)].push_back(view);
    }
    const std::int32_t flags = domain.metadata.meshes[0].array(Role::point_ghosts);
    if (flags < 0) continue;
    const ArrayView ghosts = views[static_cast<std::size_t>(flags)].back().array;
    for (auto& of_variable : views) of_variable.back().ghosts = ghosts;
  }
  return views;
}

/// Runs an analysis of one pass on the members of `communicator`. Blocks are dealt out in turn, and each member makes
/// `partials` partials.
inline CapturedResults run_lists(const AnalysisKind& kind, const std::string& yaml, const ListDomain& domain,
                                 const std::vector<ListBlock>& blocks, Communicator& communicator,
                                 std::size_t partials = 1) {
  const auto analysis = kind.create(fake_settings(kind, yaml, domain.metadata), domain.metadata);
  static_cast<void>(with_mesh_arrays(analysis->selection(), domain.metadata));  // throws if the selection cannot be met
  const auto servers = static_cast<std::size_t>(communicator.size()),
             me = static_cast<std::size_t>(communicator.rank());
  std::vector<std::vector<std::size_t>> mine(partials);
  for (std::size_t id = me; id < blocks.size(); id += servers) mine[id / servers % partials].push_back(id);
  CapturedResults results;
  Bytes feedback;
  for (int pass = 0; pass < analysis->passes(); ++pass) {
    std::vector<Bytes> all;
    const Iteration iteration;
    std::deque<decltype(views_of(domain, blocks, mine.front()))> views;
    std::deque<LocalInput> inputs;
    for (const auto& ids : mine) {
      views.push_back(views_of(domain, blocks, ids));
      inputs.push_back({iteration, domain.metadata, views.back(), pass, feedback});
      all.push_back(analysis->local(inputs.back()));
    }
    feedback = analysis->combine(
        {iteration, domain.metadata, all, pass, communicator, results, partials == 1 ? &inputs.front() : nullptr});
  }
  return results;
}

}  // namespace sidestream::testing
