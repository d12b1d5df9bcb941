// The file of `sidestream simulate-scale`: numbers of a machine and of a program, and the curves that are wanted.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

/// A shared file system. Bytes per second and files per second count all processes together.
struct StatedDisk {
  double bandwidth = 0;  ///< of many files
  double creates = 0;    ///< files made in a second
  double one_file = 1;   ///< share of the bandwidth that one file reaches
  int writers = 1;       ///< files among which processes that aggregate divide
  double streams = 0;    ///< number of files written at once that halves the bandwidth; 0: it does not fall
};

/// Seconds, and bytes per second.
struct StatedMachine {
  int cores_per_node = 1;
  double hop = 0, message = 0;               ///< a step of a collective call; a message between two processes
  double bandwidth = 0, node_bandwidth = 0;  ///< of a process's messages; of a node's
  double copy = 0;                           ///< a client's copy into memory of its own node
  double speed = 1;                          ///< of a core, relative to the records'
  StatedDisk disk;
};

/// A part of the work: `constant + cell * cells / p + doubling * log2(p) + each_rank * p` seconds on p ranks.
struct StatedPart {
  std::string name;
  double cell = 0, constant = 0, doubling = 0;
  double each_rank = 0;  ///< such as messages to all others; of at most `most_ranks`
  int most_ranks = 0;    ///< more do not share the work; 0: any number does
};

struct StatedProgram {
  double cell_bytes = 8;
  int boxes = 0;  ///< pieces of the grid; each rank has a whole number of them; 0: as fine as cells
  int steps = 1;
  std::vector<StatedPart> step;  ///< none or one
  std::vector<StatedPart> tasks;
};

/// Runs that give costs, and that the model is checked against.
struct StatedRecords {
  std::vector<std::string> runs, check;
  double cells = 0;   ///< of the runs' grid
  int cores = 0;      ///< that the ranks of a run share; 0: each has one
  double within = 0;  ///< largest relative deviation of times
  int pieces = 0;     ///< blocks of all variables that a client publishes in an iteration; 0: not checked
  double counts_within = 0.01;
};

/// A comparison of splits: Friesen et al., 2016, figures 8 to 11.
struct StatedSplits {
  std::string name;
  std::vector<std::string> tasks;  ///< none: all
  double grid = 0;                 ///< cells along each axis
  std::vector<int> ranks, servers, every;
  bool weak = false;  ///< the grid is that of the first number of ranks and grows with their number
};

/// A comparison of ways to write: Dorier et al., 2016, figures 8, 11 and 17 to 19.
struct StatedOutputs {
  std::string name;
  double grid = 0, cells = 0;  ///< cells along each axis of one grid, or cells of each rank
  std::vector<int> ranks, every, cores, nodes;
};

/// The share of an endpoint under a partitioner: Loring et al., 2020, figure 6.
struct StatedEndpoints {
  std::string name;
  std::vector<std::string> tasks;
  double grid = 0, needed = 1, memory = 0, copies = 1;
  int ranks = 1, blocks = 1, every = 1;
  std::vector<int> servers;
};

struct StatedScale {
  std::string file;
  StatedMachine machine;
  StatedProgram program;
  StatedRecords records;
  std::vector<StatedSplits> splits;
  std::vector<StatedOutputs> outputs;
  std::vector<StatedEndpoints> endpoints;
};

/// Reads the file; paths of runs begin in its folder. Throws Error(configuration).
[[nodiscard]] StatedScale stated_scale(const std::string& file);

/// The options of the file, a section of the reference in Markdown.
[[nodiscard]] std::string scale_manual();

}  // namespace sidestream
