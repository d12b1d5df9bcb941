// Partitioner `stripe`: blocks are dealt out in turn, like cards.
#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

Plan plan_stripe(const PlanInput& input, const Settings& settings) {
  const std::int64_t width = settings.integer("width");
  const auto count = static_cast<std::int64_t>(input.blocks.size());
  Plan plan;
  if (input.server < 0) {
    plan.pieces.reserve(input.blocks.size());
    for (std::int64_t b = 0; b < count; ++b) plan.pieces.push_back(whole_block(input, b, b / width % input.servers));
    return plan;
  }
  // Stripes of one server, counted so that neither a large width nor a large round overflows.
  for (std::int64_t stripe = input.server; stripe <= (count - 1) / width && count > 0; stripe += input.servers) {
    const std::int64_t begin = stripe * width;
    for (std::int64_t b = begin; b < count && b - begin < width; ++b) {
      plan.pieces.push_back(whole_block(input, b, input.server));
    }
  }
  return plan;
}

}  // namespace

PartitionerKind stripe_partitioner() {
  PartitionerKind kind;
  kind.name = "stripe";
  kind.text =
      "Deals blocks out in turn: `width` blocks to the first server, as many to the next, and again from the first. "
      "Spreads work that is concentrated in one corner of the mesh, but separates neighbours.";
  kind.options = {{.name = "width",
                   .type = OptionType::integer,
                   .default_value = "1",
                   .text = "Number of consecutive blocks that go to one server.",
                   .minimum = 1}};
  kind.plan = plan_stripe;
  return kind;
}

}  // namespace sidestream
