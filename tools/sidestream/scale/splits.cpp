// A run of S steps with an analysis after every n of them, n <= S, makes K = S / n analyses. In situ it takes S tau_c +
// K tau_a. In transit n steps and one analysis run at the same time and the slower one sets the pace; nothing hides the
// last analysis. A server takes its share of the grid before it analyses, one box in each message.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scale/studies.hpp"

namespace sidestream {

namespace {

struct Case {
  const StatedScale& scale;
  StatedPart step;
  std::vector<StatedPart> tasks;
  double cells = 0;
  int every = 1;

  [[nodiscard]] std::size_t analyses() const {
    return static_cast<std::size_t>(std::max(1, scale.program.steps / every));
  }
  [[nodiscard]] double steps(int clients) const {  ///< n tau_c
    return every * seconds_of(step, cells, clients, scale.program.boxes);
  }
  /// Steps after the last analysis that is not due any more.
  [[nodiscard]] double rest(int clients) const {
    return steps(clients) * (static_cast<double>(scale.program.steps) / every - static_cast<double>(analyses()));
  }
  [[nodiscard]] double in_situ(int ranks) const { return seconds_of_all(tasks, cells, ranks); }
  /// Seconds in which `ranks` processes send or get the grid.
  [[nodiscard]] double moving(int ranks) const {
    const StatedMachine& machine = scale.machine;
    const double boxes = scale.program.boxes > 0 ? scale.program.boxes : ranks;
    return scale.program.cell_bytes * cells / ranks / machine.bandwidth + std::ceil(boxes / ranks) * machine.message;
  }
  [[nodiscard]] double in_transit(int servers) const { return moving(servers) + seconds_of_all(tasks, cells, servers); }
  [[nodiscard]] double whole(int clients, int servers) const {
    return static_cast<double>(analyses()) *
               pipelined(steps(clients) + moving(clients), in_transit(servers), analyses()) +
           rest(clients);
  }
  [[nodiscard]] double whole_in_situ(int ranks) const {
    return static_cast<double>(analyses()) * (steps(ranks) + in_situ(ranks)) + rest(ranks);
  }
};

Case case_of(const StatedScale& scale, const ScaleCosts& costs, const StatedSplits& asked, int ranks, int every) {
  double cells = std::pow(asked.grid, 3);
  if (asked.weak) cells *= static_cast<double>(ranks) / asked.ranks.front();
  return {scale, costs.step(), costs.tasks(asked.tasks), cells, std::min(every, scale.program.steps)};
}

std::vector<int> servers_of(const StatedSplits& asked, int ranks) {
  if (!asked.servers.empty()) return asked.servers;
  std::vector<int> powers;
  for (int servers = 1; servers <= ranks / 2; servers *= 2) powers.push_back(servers);
  return powers;
}

/// The number of servers among `ranks` with the shortest run.
int best_servers(const Case& of, int ranks) {
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int servers = 1; servers < ranks; servers += std::max(1, servers / 32)) {
    const double whole = of.whole(ranks - servers, servers);
    if (whole < least) {
      least = whole;
      best = servers;
    }
  }
  return best;
}

/// The least number of servers that are not slower than n steps on `clients` clients; 0: no number is enough.
int crossing(const Case& of, int clients) {
  for (int servers = 1; servers <= clients; servers += std::max(1, servers / 32)) {
    if (of.in_transit(servers) <= of.steps(clients)) return servers;
  }
  return 0;
}

Curves over_servers(const Case& of, const StatedSplits& asked, int ranks, int every) {
  Curves curves{
      fmt::format("{}-{}-ranks{}", asked.name, ranks, asked.every.size() > 1 ? fmt::format("-every-{}", every) : ""),
      "time",
      "s",
      "ranks that serve",
      {}};
  const double alone = static_cast<double>(of.analyses()) * of.steps(ranks) + of.rest(ranks);
  for (const int servers : servers_of(asked, ranks)) {
    if (servers < ranks) curves.add("CT, whole run", servers, of.whole(ranks - servers, servers));
    curves.add("CS, whole run", servers, of.whole(ranks, servers));
    curves.add("in situ, whole run", servers, of.whole_in_situ(ranks));
    curves.add("without analyses", servers, alone);
    curves.add("τa, in transit", servers, of.in_transit(servers));
    curves.add("τa, in situ", servers, of.in_situ(ranks));
    if (servers < ranks) curves.add("n τc, CT", servers, of.steps(ranks - servers));
    curves.add("n τc, CS", servers, of.steps(ranks));
  }
  return curves;
}

std::string sentence(const Case& of, int ranks, int best, const StatedSplits& asked) {
  const int balanced = crossing(of, ranks);
  const double transit = of.whole(ranks - best, best), situ = of.whole_in_situ(ranks);
  return fmt::format(
      "  {}, {} ranks, every {} steps: in situ {:.4g} s; in transit {:.4g} s with {} of them that serve; with as many "
      "clients, {}\n",
      asked.name, ranks, of.every, situ, transit, best,
      balanced > 0 ? fmt::format("τa is below n τc from {} servers on", balanced)
                   : "no number of servers takes less than n τc");
}

}  // namespace

double seconds_of_all(const std::vector<StatedPart>& tasks, double cells, int ranks) {
  double sum = 0;
  for (const StatedPart& task : tasks) sum += seconds_of(task, cells, ranks);
  return sum;
}

Study study(const StatedScale& scale, const ScaleCosts& costs, const StatedSplits& asked) {
  Study made;
  Curves balance{asked.name + "-over-ranks", "time", "s", "ranks", {}};
  Curves servers{asked.name + "-crossing", "ranks that serve", "", "ranks", {}};
  for (const int every : asked.every) {
    const std::string suffix = asked.every.size() > 1 ? fmt::format(", n = {}", every) : "";
    for (const int ranks : asked.ranks) {
      const Case of = case_of(scale, costs, asked, ranks, every);
      const int best = best_servers(of, ranks), balanced = crossing(of, ranks);
      // Tables over servers are for the first and the last number of ranks.
      if (ranks == asked.ranks.front() || ranks == asked.ranks.back()) {
        made.tables.push_back(over_servers(of, asked, ranks, every));
        made.report += sentence(of, ranks, best, asked);
      }
      balance.add("n τc" + suffix, ranks, of.steps(ranks));
      balance.add("τa, in situ" + suffix, ranks, of.in_situ(ranks));
      balance.add("τa, in transit on an eighth" + suffix, ranks, of.in_transit(std::max(1, ranks / 8)));
      servers.add("fastest of CT" + suffix, ranks, best);
      if (balanced > 0) servers.add("n τc = τa, CS" + suffix, ranks, balanced);
    }
  }
  if (asked.ranks.size() > 1) made.tables.insert(made.tables.end(), {balance, servers});
  return made;
}

}  // namespace sidestream
