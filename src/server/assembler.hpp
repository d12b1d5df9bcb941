// From arrivals to the blocks that analyses see.
#pragma once

#include <map>
#include <vector>

#include "server/block_table.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// The assembled blocks of one iteration. Points into the transport's memory and its own halo messages; valid until the
/// iteration is released.
struct Assembled {
  std::vector<std::vector<BlockView>> blocks;  ///< by variable id, ascending block id
  std::vector<Bytes> halo_memory;
};

/// Builds views for the union of selections. Keeps the global block table, which is gathered only when it changed.
class Assembler {
 public:
  Assembler(const Metadata& metadata, Communicator& servers) : metadata_(metadata), servers_(servers) {}

  /// Collective, with the same `selection` everywhere. `changed`: some server's table changed since the last call.
  [[nodiscard]] Assembled assemble(ServerTransport& transport, std::int64_t index,
                                   const std::vector<Selected>& selection, bool changed);

 private:
  void gather_table(const ServerTransport& transport);
  const std::vector<Box>& owned(const Variable& variable, const Block& block);

  const Metadata& metadata_;
  Communicator& servers_;
  BlockTable table_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<Box>> owned_;  ///< by mesh * 2 + centering, block
};

}  // namespace sidestream
