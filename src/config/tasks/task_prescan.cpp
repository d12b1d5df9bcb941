#include "config/tasks/task_prescan.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace sidestream {

namespace {

std::string text_at(const Node& map, const char* key) {
  const Entry* const found = map.kind == Node::Kind::map ? map.find(key) : nullptr;
  return found ? found->value.text : std::string();
}

}  // namespace

std::string unnamed_task(const std::string& kind, int number) {
  return number == 1 ? kind : fmt::format("{}-{}", kind, number);
}

std::vector<WrittenTask> written_tasks(const Document& document) {
  std::vector<WrittenTask> tasks;
  for (const char* const section : {"analyses", "outputs"}) {
    const Entry* const found = document.root().find(section);
    if (found == nullptr || found->value.kind != Node::Kind::list) continue;
    for (const Node& item : found->value.items) {
      if (item.kind == Node::Kind::scalar) tasks.push_back({item.text, "", "", item.where});
      if (item.kind != Node::Kind::map || item.entries.empty()) continue;
      const Entry& entry = item.entries.front();
      tasks.push_back({entry.key, text_at(entry.value, "name"), text_at(entry.value, "group"), entry.where});
    }
  }
  std::set<std::string> taken;
  for (const WrittenTask& task : tasks) taken.insert(task.name);
  std::map<std::string, int> last;  // number of each kind
  for (WrittenTask& task : tasks) {
    while (task.name.empty()) {
      const std::string name = unnamed_task(task.kind, ++last[task.kind]);
      if (taken.insert(name).second) task.name = name;
    }
  }
  return tasks;
}

}  // namespace sidestream
