// What a file says of analyses and outputs before anything is known of kinds, meshes and variables.
#pragma once

#include <string>
#include <vector>

#include "config/options/document.hpp"

namespace sidestream {

struct WrittenTask {
  std::string kind;
  std::string name;   ///< as a session names it, also where the file does not
  std::string group;  ///< empty where the file says none
  Location where;
};

/// In the order in which a session has them: analyses, then outputs. What is wrong with an entry is left to those who
/// read it whole.
[[nodiscard]] std::vector<WrittenTask> written_tasks(const Document& document);

/// The name of the `number`-th task of a kind that the file gives no name, counted from 1.
[[nodiscard]] std::string unnamed_task(const std::string& kind, int number);

}  // namespace sidestream
