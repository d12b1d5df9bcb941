// The files that tasks write, checked before anything runs.
#pragma once

#include <vector>

#include "config/config.hpp"

namespace sidestream {

/// One `file` option that has a value.
struct TaskFile {
  std::string pattern;
  Location where;
  std::vector<std::string> kinds{};  ///< endings of formats for what goes there, if the analysis says so
};

/// Every file option of a task, nested ones too.
[[nodiscard]] std::vector<TaskFile> files_of(const TaskConfig& task, const Registry& registry);

/// Throws Error(configuration) if two tasks write the same file or index over time, in some iteration or always, or if
/// no format is registered for the ending of an analysis' file, or one for other things than the analysis writes there
/// (`choices` of a file option: endings, each of which stands for all formats that write tables, or surfaces, ... as
/// its own does; tables of single iterations may go to formats for data sets too).
void check_task_files(const std::vector<TaskConfig>& tasks, const Registry& registry);

/// Throws Error(configuration) if a run that resumes another would give its files the names of the earlier ones.
void check_resumed_files(const std::vector<TaskConfig>& tasks, const Registry& registry);

}  // namespace sidestream
