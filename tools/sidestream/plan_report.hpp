// What `sidestream plan` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sidestream {

/// Some of the blocks, and what their values amount to.
struct Amount {
  std::int64_t blocks = 0;
  std::uint64_t bytes = 0;
};

struct PlanReport {
  struct Task {
    std::string name;
    Amount needed;
    bool halo = false;
    bool pieces = false;    ///< it wants a decomposition of its own
    std::string unknown{};  ///< ranges that it goes by and that are not known: then all of its blocks are needed
  };
  std::string file, partitioner;
  std::int64_t blocks = 0;      ///< that exist and are not empty
  Amount readable;              ///< blocks with variables that any task reads, and all of those
  std::vector<Task> tasks;      ///< each alone
  Amount needed;                ///< by any task, after the partitioner's restriction
  std::int64_t restricted = 0;  ///< blocks that a task needs and the partitioner leaves out
  std::string unknown{};        ///< ranges that the partitioner goes by and that are not known: it leaves nothing out
  std::int64_t split = 0;       ///< blocks of which several servers get a part
  std::int64_t moved = 0;       ///< blocks with at least one piece
  std::vector<Amount> servers;  ///< pieces and bytes of each
};

[[nodiscard]] std::string text_of(const PlanReport& report, bool table);

}  // namespace sidestream
