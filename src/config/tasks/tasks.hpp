// The entries under `analyses:` and `outputs:`.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"

namespace sidestream {

/// Those of the task's kind, without those of all tasks.
[[nodiscard]] const std::vector<Option>& options_of(const TaskConfig& task, const Registry& registry);

/// Analyses, then outputs, in the file's order, with names given. Throws Error(configuration) for entries
/// that are wrong in themselves or in each other's company.
[[nodiscard]] std::vector<TaskConfig> read_tasks(const Document& document, const Registry& registry,
                                                 const ReadContext& context);

/// The events that `events:`, `on:` and options of the type event mention, each once, in the file's order.
[[nodiscard]] std::vector<std::string> read_events(const Document& document, const std::vector<TaskConfig>& tasks,
                                                   const Registry& registry, const ReadContext& context);

// What a file says of analyses and outputs before anything is known of kinds, meshes and variables.

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

// The files that tasks write, checked before anything runs.

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
/// its own does; tables of single iterations may go to formats for data sets too). Endings among them that belong to no
/// format stand for themselves.
void check_task_files(const std::vector<TaskConfig>& tasks, const Registry& registry);

/// Throws Error(configuration) if a run that resumes another would give its files the names of the earlier ones.
void check_resumed_files(const std::vector<TaskConfig>& tasks, const Registry& registry);

}  // namespace sidestream
