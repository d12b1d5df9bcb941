#include "session/opening/spilling.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/mpi/agree.hpp"
#include "base/paths.hpp"
#include "session/opening/wiring.hpp"
#include "transport/shared_memory/spill/spill_folder.hpp"

namespace sidestream {

namespace {

/// The share of `size` bytes for `mine` of `all`. A client that has declared nothing may do so later.
std::uint64_t share_of(std::uint64_t size, std::int64_t mine, std::int64_t all) {
  return static_cast<std::uint64_t>(static_cast<long double>(size) * static_cast<long double>(mine) /
                                    static_cast<long double>(all));
}

}  // namespace

void settle_spilling(PlacementConfig& placement, const std::string& folder) {
  std::string& directory = placement.spill.directory;
  const char* const temporary = std::getenv("TMPDIR");
  if (directory.empty()) directory = temporary != nullptr && *temporary != 0 ? temporary : "/tmp";
  directory = path_from(folder, directory);
}

std::unique_ptr<shared_memory::SpillFile> make_spill_file(MpiCommunicator& world, const Roles& roles,
                                                          const PlacementConfig& placement,
                                                          const std::vector<BlockBytes>& sizes) {
  if (placement.when_full != WhenFull::spill) return nullptr;
  constexpr std::int64_t least = 4096;
  std::int64_t mine = 0;
  if (roles.client) mine = least + static_cast<std::int64_t>(extents_of(sizes).home);
  std::int64_t all = mine;
  roles.node_members->sum(std::span(&all, 1));
  std::unique_ptr<shared_memory::SpillFile> file;
  run_collectively(world, [&] {
    if (!roles.client) return;
    const std::string& folder = placement.spill.directory;
    if (roles.on_node.number == 0) shared_memory::prepare_spill_folder(folder);
    std::filesystem::create_directories(folder);
    file = std::make_unique<shared_memory::SpillFile>(folder, share_of(placement.spill.size, mine, all));
  });
  return file;
}

}  // namespace sidestream
