#include "config/task_files.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "config/fail_at.hpp"
#include "config/names.hpp"

namespace sidestream {

namespace {

void collect(std::vector<TaskFile>& files, const Settings& settings, const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (!settings.has(option.name)) continue;
    const auto nested = [&](const std::pair<std::string, Settings>& one) {
      for (const Option& candidate : option.options) {
        if (candidate.name == one.first && !candidate.list) collect(files, one.second, candidate.options);
      }
    };
    if (option.type == OptionType::file) {
      const auto patterns = option.list ? settings.texts(option.name) : std::vector{settings.text(option.name)};
      for (const std::string& pattern : patterns) files.push_back({pattern, settings.where(option.name)});
    } else if (option.type == OptionType::map && option.list) {
      for (const Settings& one : settings.maps(option.name)) collect(files, one, option.options);
    } else if (option.type == OptionType::map) {
      collect(files, settings.map(option.name), option.options);
    } else if (option.type == OptionType::one_of && option.list) {
      for (const auto& one : settings.ones_of(option.name)) nested(one);
    } else if (option.type == OptionType::one_of) {
      nested(settings.one_of(option.name));
    }
  }
}

void check_ending(const TaskConfig& task, const TaskFile& file, const Registry& registry) {
  if (task.writer || registry.formats().empty()) return;
  std::string ending = std::filesystem::path(file.pattern).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (registry.formats().contains(ending)) return;
  const std::vector<std::string> known = keys_of(registry.formats());
  fail_at(file.where, "found the file name '{}' with the ending '{}', expected one of {}; {}", file.pattern, ending,
          listed(known), suggestion(ending, known, "change the ending"));
}

}  // namespace

std::vector<TaskFile> files_of(const TaskConfig& task, const Registry& registry) {
  std::vector<TaskFile> files;
  collect(files, task.settings,
          task.writer ? registry.writers().at(task.kind).options : registry.analyses().at(task.kind).options);
  return files;
}

namespace {

/// Names of what a session itself leaves in the output directory.
void check_not_ours(const TaskFile& file) {
  for (const char* name : {"run.yaml", "timings.csv", "provenance.txt"}) {
    if (std::filesystem::path(file.pattern).lexically_normal() != name) continue;
    fail_at(file.where, "found the file name '{}', which Sidestream itself uses, expected another; choose one",
            file.pattern);
  }
}

}  // namespace

void check_task_files(const std::vector<TaskConfig>& tasks, const Registry& registry) {
  std::map<std::string, std::pair<const TaskConfig*, Location>> writers;
  for (const TaskConfig& task : tasks) {
    for (const TaskFile& file : files_of(task, registry)) {
      const std::string name = std::filesystem::path(file.pattern).lexically_normal().string();
      const auto [first, is_new] = writers.emplace(name, std::pair{&task, file.where});
      if (!is_new) {
        fail_at(file.where,
                "found the file name '{}' of '{}', which '{}' in line {} writes too, expected different files; "
                "give one of them another 'file'",
                file.pattern, task.name, first->second.first->name, first->second.second.line);
      }
      check_ending(task, file, registry);
      check_not_ours(file);
    }
  }
}

}  // namespace sidestream
