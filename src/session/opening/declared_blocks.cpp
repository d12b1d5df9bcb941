// Blocks that a program declared before the session started.
#include "session/opening/declared_blocks.hpp"

#include <string>
#include <vector>

#include "base/mpi/agree.hpp"
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

}  // namespace sidestream
