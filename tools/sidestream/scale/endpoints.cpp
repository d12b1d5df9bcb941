// An endpoint's busiest rank has the blocks that are moved over the number of ranks, rounded up: with fewer blocks than
// ranks nothing gets less by more ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scale/studies.hpp"

namespace sidestream {

Study study(const StatedScale& scale, const ScaleCosts& costs, const StatedEndpoints& asked) {
  const double cells = std::pow(asked.grid, 3), each = cells / asked.blocks;
  const double block_bytes = each * scale.program.cell_bytes;
  const std::vector<StatedPart> tasks = costs.tasks(asked.tasks);
  const int every = std::min(asked.every, scale.program.steps);
  const auto analyses = static_cast<std::size_t>(scale.program.steps / every);
  const double steps = every * seconds_of(costs.step(), cells, asked.ranks, scale.program.boxes);
  const std::string over = "ranks of the endpoint";
  std::vector<Curves> tables{{asked.name + "-moved", "bytes that came to the busiest rank", "B", over, {}},
                             {asked.name + "-memory", "memory of the busiest rank", "B", over, {}},
                             {asked.name + "-run-time", "time to solution", "s", over, {}},
                             {asked.name + "-cost", "CPU-hours", "h", over, {}}};
  Study made;
  for (const bool all : {true, false}) {
    const char* const name = all ? "all blocks" : "needed blocks";
    const double count = all ? asked.blocks : std::ceil(asked.needed * asked.blocks);
    int cheapest = 0;
    double least = 0;
    for (const int servers : asked.servers) {
      const double held = std::ceil(count / servers), bytes = held * block_bytes;
      // As many cells as if each rank had as many as the busiest one.
      const double work = held * (scale.machine.message + block_bytes / scale.machine.bandwidth) +
                          seconds_of_all(tasks, held * each * servers, servers);
      const double whole = static_cast<double>(analyses) * pipelined(steps, work, analyses) +
                           steps * (static_cast<double>(scale.program.steps) / every - static_cast<double>(analyses));
      const double cost = whole * (servers + asked.ranks) / 3600;
      tables[0].add(name, servers, bytes * static_cast<double>(analyses));
      tables[1].add(name, servers, asked.memory + asked.copies * bytes);
      tables[2].add(name, servers, whole);
      tables[3].add(name, servers, cost);
      if (cheapest == 0 || cost < least) {
        cheapest = servers;
        least = cost;
      }
    }
    made.report += fmt::format("  {}, {}: {:.0f} of {}; the cheapest endpoint has {} ranks ({:.4g} CPU-hours)\n",
                               asked.name, name, count, asked.blocks, cheapest, least);
  }
  made.tables = std::move(tables);
  return made;
}

}  // namespace sidestream
