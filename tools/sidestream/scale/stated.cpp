#include "scale/stated.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "config/options/document.hpp"
#include "config/options/option_text.hpp"
#include "config/options/read_settings.hpp"
#include "loading.hpp"
#include "sidestream/extend/option_table.hpp"

namespace sidestream {

namespace {

constexpr int most_ranks = 1 << 24;

OptionTable<StatedDisk> disk_options() {
  return {option("bandwidth", &StatedDisk::bandwidth, "Bandwidth of many files together, bytes/s.",
                 {.standard = 48e9, .minimum = 1}),
          option("creates", &StatedDisk::creates, "Files that can be made in a second, by all processes together.",
                 {.standard = 1e4, .minimum = 1e-3}),
          option("one_file", &StatedDisk::one_file, "Share of the bandwidth that one file reaches.",
                 {.standard = 0.2, .minimum = 1e-6, .maximum = 1}),
          option("writers", &StatedDisk::writers, "Number of files into which processes that aggregate write.",
                 {.standard = 96, .minimum = 1, .maximum = most_ranks}),
          option("streams", &StatedDisk::streams,
                 "Number of files written at once with which the bandwidth is halved; 0: it does not fall.",
                 {.standard = 0, .minimum = 0})};
}

OptionTable<StatedMachine> machine_options() {
  return {
      option("cores_per_node", &StatedMachine::cores_per_node, "Processes on a node.",
             {.standard = 24, .minimum = 1, .maximum = 4096}),
      option("hop", &StatedMachine::hop, "Seconds of a step of a collective call.", {.standard = 1.5e-6, .minimum = 0}),
      option("message", &StatedMachine::message, "Seconds of a message between two processes, besides its bytes.",
             {.standard = 2e-6, .minimum = 0}),
      option("bandwidth", &StatedMachine::bandwidth, "Bandwidth of a process's messages, bytes/s.",
             {.standard = 1e9, .minimum = 1}),
      option("node_bandwidth", &StatedMachine::node_bandwidth,
             "Bandwidth of all messages and writes of a node, bytes/s.", {.standard = 4e9, .minimum = 1}),
      option("copy", &StatedMachine::copy, "Speed of a client's copy into memory of its node, bytes/s.",
             {.standard = 2e9, .minimum = 1}),
      option("speed", &StatedMachine::speed, "Speed of a core, relative to those of the records.",
             {.standard = 1, .minimum = 1e-6}),
      option("disk", &StatedMachine::disk, "The shared file system.", {.standard = "{}", .options = disk_options()})};
}

OptionTable<StatedPart> part_options(bool named) {
  OptionTable<StatedPart> table;
  if (named) table.add(option("name", &StatedPart::name, "Its name.", {.required = true}));
  table.add(
      option("cell", &StatedPart::cell, "Seconds for each cell, divided among ranks.", {.standard = 0, .minimum = 0}));
  table.add(
      option("constant", &StatedPart::constant, "Seconds on any number of ranks.", {.standard = 0, .minimum = 0}));
  table.add(option("doubling", &StatedPart::doubling, "Seconds for each doubling of the number of ranks.",
                   {.standard = 0, .minimum = 0}));
  table.add(option("each_rank", &StatedPart::each_rank,
                   "Seconds for each rank among which cells are divided, such as those of messages to all others.",
                   {.standard = 0, .minimum = 0}));
  table.add(option("most_ranks", &StatedPart::most_ranks,
                   "Ranks among which the cells are divided at most, such as the slabs of an FFT; 0: any number.",
                   {.standard = 0, .minimum = 0, .maximum = most_ranks}));
  return table;
}

OptionTable<StatedProgram> program_options() {
  return {option("cell_bytes", &StatedProgram::cell_bytes, "Bytes of a cell that are published.",
                 {.standard = 8, .minimum = 0}),
          option("boxes", &StatedProgram::boxes,
                 "Pieces of the grid, of which each rank has a whole number; 0: the grid is divided evenly.",
                 {.standard = 0, .minimum = 0, .maximum = 1 << 30}),
          option("steps", &StatedProgram::steps, "Time steps of a run.",
                 {.standard = 30, .minimum = 1, .maximum = 1 << 30}),
          option("step", &StatedProgram::step, "Costs of a time step. Default: those of the records.",
                 {.most_entries = 1, .options = part_options(false)}),
          option("tasks", &StatedProgram::tasks, "Costs of analyses, besides or instead of those of the records.",
                 {.options = part_options(true)})};
}

OptionTable<StatedRecords> records_options() {
  return {option("runs", &StatedRecords::runs, "Output directories of runs whose timings give the costs.",
                 {.range_text = path_beside_range}),
          option("check", &StatedRecords::check, "Runs that are predicted. Default: each of `runs`, from the others.",
                 {.range_text = path_beside_range}),
          option("cells", &StatedRecords::cells, "Cells of the runs' grid.", {.standard = 0, .minimum = 0}),
          option("cores", &StatedRecords::cores,
                 "Cores that the ranks of a run share. Runs with more ranks are predicted, but give no costs. 0: each "
                 "rank has one.",
                 {.standard = 0, .minimum = 0, .maximum = most_ranks}),
          option("within", &StatedRecords::within, "Largest relative deviation of times from those measured.",
                 {.standard = 0.25, .minimum = 0}),
          option("pieces", &StatedRecords::pieces,
                 "Blocks of all variables that a client publishes in an iteration, all of which reach servers in a run "
                 "with `nodes`; 0: neither blocks nor bytes are checked.",
                 {.standard = 0, .minimum = 0, .maximum = 1 << 30}),
          option("counts_within", &StatedRecords::counts_within,
                 "Largest relative deviation of blocks and bytes that move.", {.standard = 0.01, .minimum = 0})};
}

OptionTable<StatedSplits> splits_options() {
  return {option("name", &StatedSplits::name, "Part of the names of its tables.", {.required = true}),
          option("tasks", &StatedSplits::tasks, "The analyses. Default: all."),
          option("grid", &StatedSplits::grid, "Cells along each axis.", {.required = true, .minimum = 1}),
          option("ranks", &StatedSplits::ranks, "Ranks of the job. Several make curves over their number.",
                 {.required = true, .minimum = 2, .maximum = most_ranks, .least_entries = 1}),
          option("servers", &StatedSplits::servers,
                 "Numbers of ranks that serve. Default: powers of two up to half of the ranks.",
                 {.minimum = 1, .maximum = most_ranks}),
          option("every", &StatedSplits::every, "Steps from one analysis to the next.",
                 {.standard = 5, .minimum = 1, .maximum = 1 << 30, .least_entries = 1}),
          option("weak", &StatedSplits::weak,
                 "The grid is that of the first number of ranks, and grows with their number.", {.standard = false})};
}

OptionTable<StatedOutputs> outputs_options() {
  return {option("name", &StatedOutputs::name, "Part of the names of its tables.", {.required = true}),
          option("grid", &StatedOutputs::grid, "Cells along each axis of one grid for all numbers of ranks.",
                 {.standard = 0, .minimum = 0}),
          option("cells", &StatedOutputs::cells, "Cells of each rank, so that the grid grows with their number.",
                 {.standard = 0, .minimum = 0}),
          option("ranks", &StatedOutputs::ranks, "Ranks of the job.",
                 {.required = true, .minimum = 1, .maximum = most_ranks, .least_entries = 1}),
          option("every", &StatedOutputs::every, "Steps from one output to the next.",
                 {.standard = 10, .minimum = 1, .maximum = 1 << 30, .least_entries = 1}),
          option("cores", &StatedOutputs::cores, "Numbers of dedicated cores on each node.",
                 {.standard = 1, .minimum = 1, .maximum = 4096}),
          option("nodes", &StatedOutputs::nodes, "Numbers of nodes that simulate for each one that serves.",
                 {.standard = "[]", .minimum = 1, .maximum = most_ranks})};
}

OptionTable<StatedEndpoints> endpoints_options() {
  return {
      option("name", &StatedEndpoints::name, "Part of the names of its tables.", {.required = true}),
      option("tasks", &StatedEndpoints::tasks, "The analyses. Default: all."),
      option("grid", &StatedEndpoints::grid, "Cells along each axis.", {.required = true, .minimum = 1}),
      option("ranks", &StatedEndpoints::ranks, "Ranks that simulate.",
             {.required = true, .minimum = 1, .maximum = most_ranks}),
      option("blocks", &StatedEndpoints::blocks, "Blocks of the grid.",
             {.required = true, .minimum = 1, .maximum = 1 << 30}),
      option("needed", &StatedEndpoints::needed, "Share of the blocks that the analyses need.",
             {.standard = 1, .minimum = 0, .maximum = 1}),
      option("servers", &StatedEndpoints::servers, "Numbers of ranks of the endpoint.",
             {.required = true, .minimum = 1, .maximum = most_ranks, .least_entries = 1}),
      option("every", &StatedEndpoints::every, "Steps from one analysis to the next.",
             {.standard = 1, .minimum = 1, .maximum = 1 << 30}),
      option("memory", &StatedEndpoints::memory, "Bytes of a server without data.", {.standard = 35e6, .minimum = 0}),
      option("copies", &StatedEndpoints::copies, "Copies of its data that a server holds.",
             {.standard = 2, .minimum = 0})};
}

OptionTable<StatedScale> all_options() {
  return {
      option("machine", &StatedScale::machine, "The large machine.", {.standard = "{}", .options = machine_options()}),
      option("program", &StatedScale::program, "The simulation and its analyses.",
             {.standard = "{}", .options = program_options()}),
      option("records", &StatedScale::records, "Records of small runs.",
             {.standard = "{}", .options = records_options()}),
      option("splits", &StatedScale::splits, "Analyses in situ and in transit, over the ranks that serve.",
             {.options = splits_options()}),
      option("outputs", &StatedScale::outputs, "Ways to write, over ranks and intervals.",
             {.options = outputs_options()}),
      option("endpoints", &StatedScale::endpoints, "Moving all blocks or those needed, over an endpoint's ranks.",
             {.options = endpoints_options()})};
}

void check_scale(const StatedScale& scale, const Settings& settings) {
  std::set<std::string> names;
  const auto take = [&](const std::string& name, const char* section) {
    if (names.insert(name).second && name.find('/') == std::string::npos && !name.empty()) return;
    settings.fail(section,
                  fmt::format("found the name '{}' again, or with a '/', expected a name for files of its own; "
                              "choose another",
                              name));
  };
  for (const StatedSplits& one : scale.splits) take(one.name, "splits");
  for (const StatedOutputs& one : scale.outputs) {
    take(one.name, "outputs");
    if ((one.grid > 0) == (one.cells > 0)) {
      settings.fail("outputs", fmt::format("'{}' has {} of `grid` and `cells`, expected one of them; give the grid of "
                                           "all jobs, or the cells of each rank",
                                           one.name, one.grid > 0 ? "both" : "none"));
    }
  }
  for (const StatedEndpoints& one : scale.endpoints) take(one.name, "endpoints");
  const StatedRecords& records = scale.records;
  if (records.runs.empty() && !records.check.empty() && scale.program.step.empty()) {
    settings.fail("records",
                  "found `check` without `runs` and `program.step`, expected costs; name runs that give them");
  }
  if (!(records.runs.empty() && records.check.empty()) && records.cells < 1) {
    settings.fail("records", "found runs without `cells`, expected the number of cells of their grid; give it");
  }
  if (records.runs.empty() && scale.program.step.empty()) {
    settings.fail("program", "found neither `step` nor `records.runs`, expected the costs of a step; give one of them");
  }
}

}  // namespace

std::string scale_manual() {
  return "\n## simulate-scale\n\nThe file of `sidestream simulate-scale`, which predicts large jobs. See [large jobs by "
         "the model](scale.md).\n\n" +
         table_text(all_options().declarations());
}

StatedScale stated_scale(const std::string& file) {
  std::error_code ignored;
  const std::string folder = std::filesystem::absolute(file, ignored).parent_path().string();
  const auto document = parse_document(read_text(file, "the numbers of a machine"), file, folder);
  const Parameters none;
  const ReadContext context = context_of(*document, {none}, nullptr);
  static const OptionTable<StatedScale> table = all_options();
  const Settings settings =
      read_settings(document->root(), table.declarations(), "simulate-scale", document->root().where, context);
  StatedScale scale = table.read(settings);
  scale.file = file;
  check_scale(scale, settings);
  return scale;
}

}  // namespace sidestream
