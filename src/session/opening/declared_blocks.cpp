// Blocks that a program declared before the session started.
#include "session/opening/declared_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/mpi/agree.hpp"
#include "config/meshes.hpp"
#include "data/steering.hpp"
#include "session/opening/modules.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"

namespace sidestream {

namespace {

void declare_block(Publisher& publisher, const Declarations::BlockDeclaration& declared) {
  using What = Declarations::BlockDeclaration::What;
  const auto& [what, mesh, block, all] = declared;
  if (what == What::removed) return publisher.remove_block(mesh, block.id);
  if (what == What::replaced) return publisher.replace_blocks(mesh, all);
  if (what == What::bounds) return publisher.set_block_bounds(mesh, block.id, block.bounds);
  publisher.set_block(mesh, block);
}

}  // namespace

void declare_blocks(Publisher& publisher, const Declarations& declarations) {
  std::vector<const Declarations::AllocatedDeclaration*> early;
  auto next = declarations.allocated.begin();
  for (std::size_t n = 0; n <= declarations.blocks.size(); ++n) {
    for (; next != declarations.allocated.end() && next->after == n; ++next) {
      if (publisher.has_block(next->variable, next->id)) {
        publisher.set_allocated(next->variable, next->id, next->box);
      } else {
        early.push_back(&*next);
      }
    }
    if (n < declarations.blocks.size()) declare_block(publisher, declarations.blocks[n]);
  }
  for (const auto* box : early) publisher.set_allocated(box->variable, box->id, box->box);
}

void share_spectral_points(Communicator& world, Communicator* clients, Declarations& declarations,
                           const Metadata& metadata) {
  std::string problem;
  if (clients) problem = share_points(declarations.spectral_blocks, metadata, *clients);
  run_collectively(world, [&] {
    if (!problem.empty()) fail(Code::usage, "{}", problem);
  });
}

void publish_spectral_blocks(Publisher& publisher, Declarations& declarations) {
  for (const SpectralBlock& block : declarations.spectral_blocks) {
    const SpectralNames names(block.mesh.name);
    const SpectralCells cells = cells_of(block);
    const auto publish = [&](const std::string& variable, const Values& values) {
      try {
        static_cast<void>(publisher.publish(variable, block.id, values));
      } catch (const Error& error) {
        log::warning("{}", error.what());
      }
    };
    publish(names.place, block.place);
    publish(names.corners, cells.corners);
    publish(names.ends, cells.ends);
    publish(names.kinds, cells.types);
    if (block.mesh.continuous) publish(names.number, block.ids);
    publish(names.mass, block.volumes);
  }
  declarations.spectral_blocks.clear();
}

namespace {

std::string of_parameters(const Parameters& mine, const Parameters& others) {
  for (const auto& [name, value] : others) {
    const auto found = mine.find(name);
    if (found == mine.end()) return fmt::format("${} ({}, here not set)", name, text_of(value));
    if (found->second != value) return fmt::format("${} ({}, here {})", name, text_of(value), text_of(found->second));
  }
  for (const auto& [name, value] : mine) {
    if (others.count(name) == 0) return fmt::format("${} (not set, here {})", name, text_of(value));
  }
  return {};
}

/// Compares named objects in the order of their declaration.
template <class Thing, class Compare>
std::string of_named(const char* what, const std::vector<Thing>& mine, const std::vector<Thing>& others,
                     Compare compare) {
  for (std::size_t n = 0; n < std::max(mine.size(), others.size()); ++n) {
    if (n >= mine.size()) return fmt::format("the {} '{}' (here not declared)", what, others[n].name);
    if (n >= others.size()) return fmt::format("the {} '{}' (declared only here)", what, mine[n].name);
    if (mine[n].name != others[n].name)
      return fmt::format("the {} '{}' (here '{}')", what, others[n].name, mine[n].name);
    if (const std::string part = compare(mine[n], others[n]); !part.empty()) {
      return fmt::format("{} of the {} '{}'", part, what, mine[n].name);
    }
  }
  return {};
}

std::string of_variables(const Variable& a, const Variable& b) {
  if (a.type != b.type) return "type";
  if (a.centering != b.centering) return "centering";
  if (a.components != b.components) return "components";
  if (a.order != b.order) return "order";
  return a.mesh != b.mesh ? "mesh" : "";
}

}  // namespace

std::string difference_of(const Declarations& mine, const Declarations& others) {
  if (std::string found = of_parameters(mine.parameters, others.parameters); !found.empty()) return found;
  const auto meshes = [](const Mesh& a, const Mesh& b) { return difference_of(a, b); };
  if (std::string found = of_named("mesh", mine.metadata.meshes, others.metadata.meshes, meshes); !found.empty()) {
    return found;
  }
  return of_named("variable", mine.metadata.variables, others.metadata.variables, of_variables);
}

}  // namespace sidestream
