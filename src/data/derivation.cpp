// Dependencies of derived variables. The reach of a derivation (its stencils' width) adds up along its longest chain of
// steps. all_steps() inserts the steps of the derived variables that a derivation needs, in ascending order of ids,
// since each depends only on those before it. A map from variables to steps avoids duplicates.
#include "data/derivation.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace sidestream {

namespace {

using Kind = DerivationStep::Kind;

const Variable& variable_of(const Metadata& metadata, std::int32_t id) {
  return metadata.variables.at(static_cast<std::size_t>(id));
}

/// The derivation of the derived variable that a step names.
const Derivation& derivation_of(const Metadata& metadata, const DerivationStep& step) {
  return *variable_of(metadata, step.variable).derivation;
}

/// The reach of the last step. Steps follow their arguments.
std::int32_t reach_of(const std::vector<DerivationStep>& steps, const Metadata& metadata) {
  std::vector<std::int32_t> reach;
  for (const DerivationStep& step : steps) {
    std::int32_t mine = step.kind == Kind::derived ? derivation_of(metadata, step).reach() : 0;
    for (const std::size_t argument : step.arguments) mine = std::max(mine, reach[argument]);
    reach.push_back(mine + (step.is_stencil() && !step.in_cells ? 1 : 0));
  }
  return reach.empty() ? 0 : reach.back();
}

template <class T>
void add_all(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Sorts in ascending order and removes duplicates.
template <class T>
void sort_once(std::vector<T>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// Replaces a part that depends on ranges of a derived variable by the whole, since these ranges are unknown.
Part without_ranges(const Part& part, const Metadata& metadata, std::int32_t selected) {
  const auto derived = [&](std::int32_t id) { return id >= 0 && variable_of(metadata, id).derived(); };
  const std::int32_t of = part.values.of.variable < 0 ? selected : part.values.of.variable;
  const bool by_values = part.kind == Part::Kind::values && derived(of);
  const bool by_predicate = part.kind == Part::Kind::predicate && derived(part.predicate.range.variable);
  return by_values || by_predicate ? Part() : part;
}

void add_inputs(std::vector<Selected>& all, const Selected& derived, const Metadata& metadata) {
  const Derivation& derivation = *variable_of(metadata, derived.variable).derivation;
  std::vector<std::int32_t> inputs = derivation.inputs();
  for (const std::int32_t array : derivation.arrays(metadata)) inputs.push_back(array);
  for (const std::int32_t input : inputs) {
    Selected& one = all.emplace_back(derived);
    one.variable = input;
    one.halo += derivation.reach();
    one.wrap |= derivation.reach() > 0;
    one.ghosts = false;
    if (one.part.plane.of < 0) one.part.plane.of = derived.variable;
    if (one.part.values.of.variable < 0) one.part.values.of.variable = derived.variable;
  }
  for (const std::int32_t array : derivation.particles(metadata)) all.emplace_back(array);
}

}  // namespace

Derivation::Derivation(std::string text, std::vector<DerivationStep> steps, const Metadata& metadata)
    : text_(std::move(text)), steps_(std::move(steps)), reach_(reach_of(steps_, metadata)) {
  for (const DerivationStep& step : steps_) {
    places_ |= step.kind == Kind::coordinate || step.is_stencil();
    stencils_ |= step.is_stencil();
    in_cells_ |= step.in_cells;
    if (step.kind == Kind::variable || step.kind == Kind::deposit) inputs_.push_back(step.variable);
    if (step.kind == Kind::deposit) deposits_.push_back(step.deposit);
    if (step.kind != Kind::derived) continue;
    const Derivation& other = derivation_of(metadata, step);
    places_ |= other.places_;
    stencils_ |= other.stencils_;
    in_cells_ |= other.in_cells_;
    add_all(inputs_, other.inputs_);
    add_all(deposits_, other.deposits_);
  }
  sort_once(inputs_);
  sort_once(deposits_);
}

namespace {

/// The derived variables that a derivation needs, ascending. Each one depends only on earlier ones.
std::set<std::int32_t> derived_under(const Derivation& derivation, const Metadata& metadata) {
  std::set<std::int32_t> found;
  std::vector<const Derivation*> open{&derivation};
  while (!open.empty()) {
    const Derivation& one = *open.back();
    open.pop_back();
    for (const DerivationStep& step : one.steps()) {
      if (step.kind == Kind::derived && found.insert(step.variable).second) {
        open.push_back(&derivation_of(metadata, step));
      }
    }
  }
  return found;
}

}  // namespace

std::vector<DerivationStep> all_steps(const Derivation& derivation, const Metadata& metadata) {
  std::vector<DerivationStep> all;
  std::map<std::int32_t, std::size_t> known;  // by variable: position of its values
  const auto put = [&](const Derivation& one) {
    std::vector<std::size_t> places;
    for (const DerivationStep& step : one.steps()) {
      const bool named = step.kind == Kind::derived || step.kind == Kind::variable;
      const auto found = named ? known.find(step.variable) : known.end();
      if (found != known.end()) {
        places.push_back(found->second);
        continue;
      }
      places.push_back(all.size());
      DerivationStep& made = all.emplace_back(step);
      for (std::size_t& argument : made.arguments) argument = places[argument];
      if (named) known.emplace(step.variable, places.back());
    }
    return places.back();
  };
  for (const std::int32_t id : derived_under(derivation, metadata)) {
    known[id] = put(*variable_of(metadata, id).derivation);
  }
  all.resize(put(derivation) + 1);
  return all;
}

std::int32_t Derivation::like(const Metadata& metadata) const {
  return in_cells_ ? metadata.mesh_of(variable_of(metadata, inputs_.front())).array(Role::types) : inputs_.front();
}

std::int32_t Derivation::coordinates(const Metadata& metadata) const {
  return places_ ? metadata.mesh_of(variable_of(metadata, inputs_.front())).array(Role::coordinates) : -1;
}

std::vector<std::int32_t> Derivation::particles(const Metadata& metadata) const {
  std::vector<std::int32_t> all;
  for (const Deposit& one : deposits_) {
    const Mesh& mesh = metadata.meshes.at(static_cast<std::size_t>(one.particles));
    for (const Role role : {Role::coordinates, Role::point_ids, Role::point_ghosts}) all.push_back(mesh.array(role));
    all.push_back(one.weight);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (!all.empty() && all.front() < 0) all.erase(all.begin());
  return all;
}

std::vector<std::int32_t> Derivation::arrays(const Metadata& metadata) const {
  const Mesh& mesh = metadata.mesh_of(variable_of(metadata, inputs_.front()));
  std::vector<std::int32_t> all;
  if (coordinates(metadata) >= 0) all.push_back(coordinates(metadata));
  if (in_cells_) {
    for (const Role role : {Role::connectivity, Role::offsets, Role::types}) all.push_back(mesh.array(role));
  }
  return all;
}

std::vector<Selected> inputs_of(const std::vector<Selected>& selected, const Metadata& metadata) {
  std::vector<Selected> all;
  for (Selected one : selected) {
    one.part = without_ranges(one.part, metadata, one.variable);
    if (variable_of(metadata, one.variable).derived()) {
      add_inputs(all, one, metadata);
    } else {
      all.push_back(one);
    }
  }
  return all;
}

bool has_deposits(const std::vector<Selected>& selected, const Metadata& metadata) {
  return std::any_of(selected.begin(), selected.end(), [&](const Selected& one) {
    const Variable& variable = variable_of(metadata, one.variable);
    return variable.derived() && !variable.derivation->deposits().empty();
  });
}

Metadata published_part(const Metadata& metadata) {
  Metadata published = metadata;
  std::vector<Variable>& variables = published.variables;
  // Ids must stay the same. So a made mesh that the configuration declares before others stays, too.
  while (!variables.empty() && !metadata.is_published(variables.back())) variables.pop_back();
  const auto is_used = [&](const Mesh& mesh) {
    return std::any_of(variables.begin(), variables.end(), [&](const Variable& one) { return one.mesh == mesh.id; });
  };
  std::vector<Mesh>& meshes = published.meshes;
  while (!meshes.empty() && meshes.back().made && !is_used(meshes.back())) meshes.pop_back();
  return published;
}

}  // namespace sidestream
