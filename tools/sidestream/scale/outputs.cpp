// Each way to write says how many processes write into how many files, and how long the simulation is held up. The file
// system makes files one after the other, and then takes bytes as fast as the slower of itself and of the processes
// that write. More files at once disturb one another: the bandwidth is halved where there are `disk.streams`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scale/studies.hpp"

namespace sidestream {

namespace {

constexpr double round_bytes = 16 << 20;  ///< that a process collects in a round of a collective output

/// One output of a way to write. Seconds.
struct Written {
  std::string name;
  double held = 0;     ///< of the simulation
  double writing = 0;  ///< of the slowest process that writes
  double mean = 0;     ///< of a process that writes, on average
  int clients = 1;     ///< ranks that simulate
  int servers = 0;
};

struct Job {
  const StatedMachine& machine;
  int ranks = 1;
  double bytes = 0;

  [[nodiscard]] int nodes() const { return std::max(1, ranks / machine.cores_per_node); }
};

/// Bytes per second that processes on so many nodes can send to the disks.
double sent(const Job& job, int writers, int nodes) {
  return std::min(writers * job.machine.bandwidth, nodes * job.machine.node_bandwidth);
}

/// Seconds until the bytes of `writers` files are written by processes on `nodes` nodes, without making the files.
double streamed(const Job& job, int writers, int nodes) {
  const StatedDisk& disk = job.machine.disk;
  const double disturbed = disk.streams > 0 ? 1 + writers / disk.streams : 1;
  return job.bytes / std::min(disk.bandwidth / disturbed, sent(job, writers, nodes));
}

/// Processes that write a file each: they wait in the file system's queue for half of it on average.
Written own_files(const Job& job, std::string name, int writers, int nodes) {
  const double made = writers / job.machine.disk.creates, bytes = streamed(job, writers, nodes);
  return {std::move(name), made + bytes, made + bytes, made / 2 + bytes, job.ranks, 0};
}

/// All ranks write into one file, in rounds that begin together.
Written one_file(const Job& job) {
  const StatedDisk& disk = job.machine.disk;
  const double bandwidth = std::min(disk.bandwidth * disk.one_file, sent(job, job.ranks, job.nodes()));
  const double rounds = std::ceil(job.bytes / (job.nodes() * round_bytes));
  const double together =
      rounds * (job.machine.hop * std::log2(2.0 * job.ranks) + job.machine.message * job.ranks / job.nodes());
  const double all = 1 / disk.creates + job.bytes / bandwidth + together;
  return {"one file", all, all, all, job.ranks, 0};
}

Written aggregated(const Job& job) {
  const int writers = std::min(job.machine.disk.writers, job.ranks);
  Written made = own_files(job, "aggregated", writers, std::min(writers, job.nodes()));
  const double collected = writers < job.ranks ? job.bytes / writers / job.machine.bandwidth : 0;
  for (double* const seconds : {&made.held, &made.writing, &made.mean}) *seconds += collected;
  return made;
}

/// Servers take a copy, and write while the simulation continues.
Written beside(const Job& job, Written made, int servers) {
  made.servers = servers;
  made.clients = job.ranks - servers;
  made.held = job.bytes / made.clients / job.machine.copy;
  return made;
}

std::vector<Written> ways(const Job& job, const StatedOutputs& asked) {
  std::vector<Written> all{own_files(job, "file per process", job.ranks, job.nodes()), one_file(job), aggregated(job)};
  for (const int cores : asked.cores) {
    if (cores >= job.machine.cores_per_node || job.ranks < job.machine.cores_per_node) continue;
    const int servers = job.nodes() * cores;
    all.push_back(
        beside(job, own_files(job, fmt::format("dedicated cores, {}", cores), servers, job.nodes()), servers));
  }
  for (const int ratio : asked.nodes) {
    const int nodes = job.nodes() / (ratio + 1);
    if (nodes == 0) continue;
    const int servers = nodes * job.machine.cores_per_node;
    Written made = beside(job, own_files(job, fmt::format("dedicated nodes, {}:1", ratio), servers, nodes), servers);
    const double moved = job.bytes / (nodes * job.machine.node_bandwidth) +
                         std::ceil(static_cast<double>(made.clients) / servers) * job.machine.message;
    made.writing += moved;
    made.mean += moved;
    all.push_back(made);
  }
  return all;
}

struct Tables {
  Curves run, held, throughput, mean, spare, wasted;
};

/// Adds what one way to write makes of a run.
void add(Tables& tables, const Written& way, const StatedScale& scale, const StatedPart& step, double cells, int every,
         double at, double bytes, const std::string& suffix) {
  const double outputs = std::max(1, scale.program.steps / every), one = seconds_of(step, cells, way.clients);
  const double alone = every * one, rest = (scale.program.steps - outputs * every) * one;
  const double steps = alone + way.held;
  const double whole =
      rest + outputs * (way.servers > 0 ? pipelined(steps, way.writing, static_cast<std::size_t>(outputs)) : steps);
  tables.run.add(way.name + suffix, at, whole);
  tables.held.add(way.name + suffix, at, std::max(way.held, way.servers > 0 ? way.held + way.writing - steps : 0));
  tables.throughput.add(way.name + suffix, at, bytes / way.writing);
  tables.mean.add(way.name + suffix, at, bytes / way.mean);
  const double ideal = scale.program.steps * seconds_of(step, cells, way.clients + way.servers);
  tables.wasted.add(way.name + suffix, at, (whole - ideal) * (way.clients + way.servers) / 3600);
  if (way.servers > 0)
    tables.spare.add(way.name + suffix, at, 100 * std::max(0.0, 1 - way.writing / std::max(steps, way.writing)));
}

Tables tables_of(const std::string& name, const std::string& over) {
  return {{name + "-run-time", "time of the run", "s", over, {}},
          {name + "-held", "time that an output holds up the simulation", "s", over, {}},
          {name + "-throughput", "bytes over the time of the slowest writer", "B/s", over, {}},
          {name + "-mean-throughput", "bytes over the mean time of writers", "B/s", over, {}},
          {name + "-spare", "time of servers in which they do nothing", "%", over, {}},
          {name + "-cpu-hours", "CPU-hours beyond those of the simulation", "h", over, {}}};
}

void keep(std::vector<Curves>& all, Tables tables) {
  for (Curves* const one :
       {&tables.run, &tables.held, &tables.throughput, &tables.mean, &tables.spare, &tables.wasted}) {
    if (!one->curves.empty()) all.push_back(std::move(*one));
  }
}

/// The way with the shortest run at the last point.
std::string fastest(const Curves& run) {
  const auto best = std::min_element(run.curves.begin(), run.curves.end(), [](const Curve& a, const Curve& b) {
    return a.points.back().second < b.points.back().second;
  });
  return fmt::format("{} ({:.4g} s)", best->name, best->points.back().second);
}

}  // namespace

Study study(const StatedScale& scale, const ScaleCosts& costs, const StatedOutputs& asked) {
  Study made;
  const auto measure = [&](Tables& tables, int ranks, int every, double at, const std::string& suffix) {
    const double cells = asked.grid > 0 ? std::pow(asked.grid, 3) : asked.cells * ranks;
    const Job job{scale.machine, ranks, cells * scale.program.cell_bytes};
    tables.run.add("no output" + suffix, at, scale.program.steps * seconds_of(costs.step(), cells, ranks));
    for (const Written& way : ways(job, asked)) {
      add(tables, way, scale, costs.step(), cells, std::min(every, scale.program.steps), at, job.bytes, suffix);
    }
  };
  if (asked.ranks.size() > 1 || asked.every.size() == 1) {
    Tables tables = tables_of(asked.name, "ranks");
    for (const int ranks : asked.ranks) measure(tables, ranks, asked.every.front(), ranks, "");
    const auto no_output = tables.run.curves.begin();
    Curves written{"", "", "", "", {std::next(no_output), tables.run.curves.end()}};
    made.report += fmt::format("  {}, {} ranks, every {} steps: the fastest that writes is {}\n", asked.name,
                               asked.ranks.back(), asked.every.front(), fastest(written));
    keep(made.tables, std::move(tables));
  }
  if (asked.every.size() > 1) {
    Tables tables = tables_of(asked.name + "-intervals", "steps from one output to the next");
    for (const int every : asked.every) measure(tables, asked.ranks.back(), every, every, "");
    made.tables.push_back(tables.run);
    made.tables.push_back(tables.spare);
  }
  return made;
}

}  // namespace sidestream
