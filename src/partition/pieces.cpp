#include "partition/pieces.hpp"

#include "partition/shares.hpp"

namespace sidestream {

Plan equal_shares(const PlanInput& input) {
  const Shares shares(static_cast<std::int64_t>(input.blocks.size()), input.servers);
  const bool one = input.server >= 0;
  Plan plan;
  plan.pieces.reserve(one ? static_cast<std::size_t>(shares.end(input.server) - shares.begin(input.server))
                          : input.blocks.size());
  for (std::int64_t server = one ? input.server : 0; server < (one ? input.server + 1 : input.servers); ++server) {
    for (std::int64_t block = shares.begin(server); block < shares.end(server); ++block) {
      plan.pieces.push_back(whole_block(input, block, server));
    }
  }
  return plan;
}

}  // namespace sidestream
