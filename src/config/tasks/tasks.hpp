// The entries under `analyses:` and `outputs:`, and requests of people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"

namespace sidestream {

/// The options of the task's kind, without the options of all tasks.
[[nodiscard]] const std::vector<Option>& options_of(const TaskConfig& task, const Registry& registry);

/// Reads one entry of `analyses:`, or with `writer` of `outputs:`. Its name is empty if it gives none. Throws
/// Error(configuration).
[[nodiscard]] TaskConfig read_task(const Node& item, bool writer, const Registry& registry, const ReadContext& context);

/// Reads analyses, then outputs, in the file's order, with names assigned. Meshes that analyses make are added to
/// `metadata`, that of the context. Throws Error(configuration) for entries that are invalid, or that conflict with
/// each other.
[[nodiscard]] std::vector<TaskConfig> read_tasks(const Document& document, const Registry& registry,
                                                 const ReadContext& context, Metadata& metadata);

/// Checks what happens after a task has run (`then`). Throws Error(configuration).
void check_then(const TaskConfig& task, const OpeningConfig& opening, const std::vector<SteeredParameter>& steering);

/// The parameter and its value in `stop = 1`. Throws Error.
struct SteeredAfterRun {
  std::string name;
  SteeredParameter::Value value;
};
[[nodiscard]] SteeredAfterRun steered_after_run(const std::string& text, const std::vector<SteeredParameter>& steering);

/// The events that `events:`, `on:` and options of the type event mention, each once, in the file's order.
[[nodiscard]] std::vector<std::string> read_events(const Document& document, const std::vector<TaskConfig>& tasks,
                                                   const Registry& registry, const ReadContext& context);

// Content of the entries under analyses and outputs before kinds, meshes and variables are known.

struct WrittenTask {
  std::string kind;
  std::string name;   ///< name in the session, also if the file gives none
  std::string group;  ///< empty if the file gives none
  Location where;
};

/// Lists the tasks in a session's order: analyses, then outputs. Invalid entries are reported later, when they are read
/// whole.
[[nodiscard]] std::vector<WrittenTask> written_tasks(const Document& document);

/// The name of the `number`-th task of a kind that has no name in the file, counted from 1.
[[nodiscard]] std::string unnamed_task(const std::string& kind, int number);

// Check of the files that tasks write, before anything runs.

/// One `file` option that has a value.
struct TaskFile {
  std::string pattern;
  Location where;
  std::vector<std::string> kinds{};  ///< endings of suitable formats, if the analysis declares them
};

/// Checks the kinds of tasks and the names of their options, before the simulation's variables are known. Throws
/// Error(configuration).
void check_task_names(const Document& document, const Registry& registry);

/// All file options of a task, including nested ones.
[[nodiscard]] std::vector<TaskFile> files_of(const TaskConfig& task, const Registry& registry);

/// Throws Error(configuration) if two tasks write the same file or index over time, in some iteration or always. Also
/// throws if no registered format fits the ending of an analysis' file. Suitable formats follow from `choices` of a
/// file option: each ending stands for all formats that write tables, or surfaces, ... as its own does, or only for
/// itself if it has no format. Tables of single iterations may go to formats for data sets, too. `results` is the
/// absolute path of the output directory, in which names begin that are not absolute themselves.
void check_task_files(const std::vector<TaskConfig>& tasks, const Registry& registry, const std::string& results);

/// Throws Error(configuration) if a run that resumes another would reuse the names of earlier files.
void check_resumed_files(const std::vector<TaskConfig>& tasks, const Registry& registry);

// Analyses that people ask a running session for.

struct AskedTask {
  TaskConfig config;
  bool once = true;  ///< false if it states how often it runs
};

/// Reads `text`, an entry of `analyses:` on one line, for a session that runs `config`. `name` becomes its name, and
/// `others` were asked for before. All of its files must be in the folder `asked`, so that it replaces nothing of the
/// run. `derive` makes variables of `config` of its expressions, as ReadContext::derive. Throws Error(configuration).
[[nodiscard]] AskedTask read_asked_task(const std::string& text, const std::string& name,
                                        const std::vector<TaskConfig>& others, const Config& config,
                                        const Registry& registry, std::function<void(const Node&)> derive);

/// The kinds of analyses that can be asked for.
[[nodiscard]] std::vector<std::string> kinds_to_ask_for(const Registry& registry);

}  // namespace sidestream
