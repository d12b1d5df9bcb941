// A partitioner in a shared library of its own: blocks along a space-filling curve, in shares of equal bytes.
//
// In a configuration:
//   plugins: [./libmorton.so]
//   placement: {mode: nodes, servers: 4, partitioner: {morton: {weigh: bytes}}}
//
// Neighbours on the curve are neighbours in space. So each server gets a compact part of the mesh, whatever the order
// in which clients hold the blocks.
#include <algorithm>
#include <cstdint>
#include <sidestream/extend/plugin.hpp>
#include <tuple>
#include <vector>

namespace {

using namespace sidestream;

/// Spreads the lowest 21 bits, with two zeros between any two of them.
std::uint64_t spread(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffff;
  x = (x | x << 16) & 0x1f0000ff0000ff;
  x = (x | x << 8) & 0x100f00f00f00f00f;
  x = (x | x << 4) & 0x10c30c30c30c30c3;
  return (x | x << 2) & 0x1249249249249249;
}

/// Position of the block's centre on the curve; the mesh has 2^21 positions along each axis.
std::uint64_t place(const Block& block, const Mesh& mesh) {
  const Index3 ratio = mesh.ratio_to(std::min<std::int32_t>(block.level, static_cast<int>(mesh.refinement.size())));
  std::uint64_t code = 0;
  for (int a = 0; a < 3; ++a) {
    const double middle = 0.5 * static_cast<double>(block.cells.lo[a] + block.cells.hi[a]) / ratio[a];
    const double part = (middle - static_cast<double>(mesh.cells.lo[a])) / static_cast<double>(mesh.cells.extent(a));
    code |= spread(static_cast<std::uint64_t>(std::clamp(part, 0.0, 1.0) * 0x1fffff)) << a;
  }
  return code;
}

// A pure function: every server calls it with the same input and must get the same plan.
Plan plan_morton(const PlanInput& input, const Settings& settings) {
  const bool by_bytes = settings.text("weigh") == "bytes";
  const auto weight = [&](const PlannedBlock& b) { return by_bytes ? static_cast<double>(b.bytes) : 1.0; };
  std::vector<std::tuple<std::int32_t, std::uint64_t, std::int64_t>> order;  // mesh, position on the curve, block
  double total = 0;
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const Block& block = input.blocks[b].block;
    const Mesh& mesh = input.metadata.meshes.at(static_cast<std::size_t>(block.mesh));
    order.emplace_back(block.mesh, place(block, mesh), static_cast<std::int64_t>(b));
    total += weight(input.blocks[b]);
  }
  std::sort(order.begin(), order.end());
  Plan plan;
  double before = 0;
  for (const auto& [mesh, code, b] : order) {
    const PlannedBlock& block = input.blocks[static_cast<std::size_t>(b)];
    // The server whose share contains the middle of the block's weight.
    const double middle = before + 0.5 * weight(block);
    before += weight(block);
    const double share = total > 0 ? middle / total : 0;
    const int server = std::min(static_cast<int>(share * input.servers), input.servers - 1);
    // Only one server's part may be wanted; the others' would be ignored.
    if (input.server >= 0 && input.server != server) continue;
    plan.pieces.push_back({b, server, 0, block.block.cells});
  }
  return plan;
}

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  PartitionerKind kind;
  kind.name = "morton";
  kind.text = "Blocks along a curve that fills space, in equal shares.";
  kind.options = {{.name = "weigh",
                   .type = OptionType::choice,
                   .default_value = "bytes",
                   .text = "What is shared equally.",
                   .choices = {"bytes", "blocks"}}};
  kind.plan = plan_morton;
  registry.add(std::move(kind));
}
