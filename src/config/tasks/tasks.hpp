// The entries under `analyses:` and `outputs:`.
#pragma once

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

}  // namespace sidestream
