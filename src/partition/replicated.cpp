// Partitioner `replicated`: each block to several servers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

/// Number of servers that get each block.
std::int64_t copies_of(const PlanInput& input, const Settings& settings) {
  const std::string& text = settings.text("copies");
  if (text == "all") return input.servers;
  std::int64_t copies = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), copies);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || copies < 1) {
    settings.fail("copies", fmt::format("found '{}' for 'copies', expected a whole number from 1 or 'all'; write how "
                                        "many servers are to get each block",
                                        text));
  }
  return std::min<std::int64_t>(copies, input.servers);
}

Plan plan_replicated(const PlanInput& input, const Settings& settings) {
  const std::int64_t copies = copies_of(input, settings);
  const Shares shares(static_cast<std::int64_t>(input.blocks.size()), input.servers);
  Plan plan;
  const auto add = [&](std::int64_t home, std::int64_t step) {
    const std::int64_t server = (home + step) % input.servers;
    if (!is_wanted(input, server)) return;
    for (std::int64_t block = shares.begin(home); block < shares.end(home); ++block) {
      plan.pieces.push_back(whole_block(input, block, server, step > 0 ? 1 : 0));
    }
  };
  if (input.blocks.empty()) return plan;
  if (input.server >= 0) {
    // Homes whose blocks this server gets: itself, and the `copies - 1` servers before it.
    for (std::int64_t step = 0; step < copies; ++step) add((input.server - step + input.servers) % input.servers, step);
    return plan;
  }
  plan.pieces.reserve(input.blocks.size() * static_cast<std::size_t>(copies));
  for (std::int64_t home = 0; home < input.servers; ++home) {
    for (std::int64_t step = 0; step < copies; ++step) add(home, step);
  }
  return plan;
}

}  // namespace

PartitionerKind replicated_partitioner() {
  PartitionerKind kind;
  kind.name = "replicated";
  kind.text =
      "Contiguous equal shares, of which the next servers get copies. Points count once, on the first server; the "
      "others may use the values. For analyses that read values far outside a block.";
  kind.options = {{.name = "copies",
                   .type = OptionType::text,
                   .default_value = "2",
                   .text = "Number of servers that get each block, at most all: a number or `all`.",
                   .range_text = "at least 1, or `all`"}};
  kind.plan = plan_replicated;
  return kind;
}

}  // namespace sidestream
