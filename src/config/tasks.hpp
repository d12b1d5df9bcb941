// The entries under `analyses:` and `outputs:`.
#pragma once

#include "config/document.hpp"
#include "config/read_settings.hpp"

namespace sidestream {

/// Analyses, then outputs, in the file's order, with names given. Throws Error(configuration) for entries
/// that are wrong in themselves or in each other's company.
[[nodiscard]] std::vector<TaskConfig> read_tasks(const Document& document, const Registry& registry,
                                                 const ReadContext& context);

/// The events that `on:`, `level_times:` and `events:` mention, each once, in the file's order.
[[nodiscard]] std::vector<std::string> read_events(const Document& document, const std::vector<TaskConfig>& tasks,
                                                   const ReadContext& context);

}  // namespace sidestream
