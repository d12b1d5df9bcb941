// The contract of a partitioner: who gets which block.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// One block as the partitioner sees it.
struct PlannedBlock {
  Block block;
  std::uint64_t bytes = 0;  ///< of all variables that are needed
};

/// The server of each block, in the order of the blocks given. -1: goes nowhere.
struct Plan {
  std::vector<std::int32_t> server;
};

/// A pure function: the same input gives the same plan on every process.
struct PartitionerKind {
  std::string name;
  std::string text;
  std::function<Plan(std::span<const PlannedBlock>, int servers)> plan;
};

}  // namespace sidestream
