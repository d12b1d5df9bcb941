// Edits the text, since writing the tree anew would lose comments and layout: positions of keys are those of the
// parser.
#include "advise/placed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "advise/candidates.hpp"
#include "config/tasks/tasks.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Options of the old placement that the new one keeps, as written: one line each, since scalars and lists of numbers
/// are.
std::string kept(const Node& placement, const Split& split) {
  std::string text;
  if (!split.dedicated()) return text;
  for (const char* const key : {"buffer", "when_full", "max_in_flight", "session"}) {
    if (std::string(key) == "session" && split.mode != "sidecar") continue;
    const Entry* const entry = placement.find(key);
    if (entry && entry->value.text == "spill" && split.mode == "nodes") continue;  // which cannot spill
    if (entry && entry->value.kind == Node::Kind::scalar) text += fmt::format(", {}: {}", key, entry->value.text);
  }
  return text;
}

std::string entry_of(const Node& placement, const Split& split) {
  std::string text = placement_text(split);
  const std::string more = kept(placement, split);
  if (more.empty()) return "placement: " + text;
  text = text.front() == '{' ? text.substr(1, text.size() - 2) : "mode: " + text;
  return fmt::format("placement: {{{}{}}}", text, more);
}

std::size_t index_of(const Location& where) { return static_cast<std::size_t>(where.line) - 1; }

/// True if a line belongs to the value of the top-level entry above it.
bool goes_on(const std::string& line) {
  return line.empty() || line.front() == ' ' || line.front() == '\t' || line.front() == '}' || line.front() == '#';
}

/// Puts an option first in a map that has some.
void put_first(Lines& lines, const Node& options, const std::string& option) {
  const Location& first = options.entries.front().where;
  std::string& line = lines[index_of(first)];
  const auto column = static_cast<std::size_t>(first.column) - 1;
  const std::string before = line.substr(0, column);
  const bool flow = before.find('{') != std::string::npos;
  line = before + option + (flow ? ", " : "\n" + std::string(column, ' ')) + line.substr(column);
}

/// Removes an option, with the comma that parts it from the next one or from the one before.
void drop(Lines& lines, const Entry& option) {
  std::string& line = lines[index_of(option.where)];
  const auto first = static_cast<std::size_t>(option.where.column) - 1;
  const std::size_t end = static_cast<std::size_t>(option.value.where.column) - 1 + option.value.text.size();
  const std::size_t next = line.find_first_not_of(' ', end);
  const std::size_t before = line.find_last_not_of(' ', first - 1);
  if (next != std::string::npos && line[next] == ',') {
    line.erase(first, line.find_first_not_of(' ', next + 1) - first);
  } else if (first > 0 && before != std::string::npos && line[before] == ',') {
    line.erase(before, end - before);
  } else {
    line.erase(first, end - first);
  }
}

/// Gives a task the option `group`: replaces its value, or puts it first among the options. No name: it has none.
void put_group(Lines& lines, const Entry& task, const std::string& group) {
  const Node& options = task.value;
  if (const Entry* const old = options.find("group"); old && !old->value.quoted) {
    if (group.empty()) return drop(lines, *old);
    const auto column = static_cast<std::size_t>(old->value.where.column) - 1;
    lines[index_of(old->value.where)].replace(column, old->value.text.size(), group);
    return;
  }
  if (group.empty()) return;
  if (options.kind == Node::Kind::map && !options.entries.empty()) {
    put_first(lines, options, "group: " + group);
    return;
  }
  std::string& line = lines[index_of(task.where)];
  const std::size_t key = static_cast<std::size_t>(task.where.column) - 1;
  const std::size_t brace = line.find('{', key), colon = line.find(':', key);
  if (brace != std::string::npos) {
    line.insert(brace + 1, "group: " + group);
  } else if (colon != std::string::npos) {
    line.insert(colon + 1, fmt::format(" {{group: {}}}", group));
  }
}

/// Name of the group of each task, in the order of the file. Tasks without times of their own have none: those that
/// never ran go to the first group, and those that use a made mesh to the group of its maker.
std::vector<std::string> wanted_groups(const Document& document, const Split& split) {
  std::vector<std::string> groups;
  for (const WrittenTask& task : written_tasks(document)) {
    const auto found = std::find_if(split.division.begin(), split.division.end(), [&](const auto& group) {
      return std::find(group.second.begin(), group.second.end(), task.name) != group.second.end();
    });
    groups.push_back(found == split.division.end() ? std::string() : found->first);
  }
  return groups;
}

void put_groups(Lines& lines, const Document& document, const Split& split) {
  const std::vector<std::string> groups = wanted_groups(document, split);
  // From the end, so that positions before it still hold.
  std::vector<std::pair<const Entry*, std::string>> edits;
  auto group = groups.begin();
  for (const char* const section : {"analyses", "outputs"}) {
    const Entry* const found = document.root().find(section);
    if (found == nullptr) continue;
    for (const Node& item : found->value.items) {
      if (item.kind == Node::Kind::map && !item.entries.empty()) edits.emplace_back(&item.entries.front(), *group);
      ++group;
    }
  }
  std::for_each(edits.rbegin(), edits.rend(), [&](const auto& edit) { put_group(lines, *edit.first, edit.second); });
}

/// The end of a directory's name that distinguishes the runs of splits: `-cores-3-2`.
std::string suffix_of(const Split& split) {
  std::string text = "-" + split.mode;
  for (const auto& [group, size] : split.groups) text += fmt::format("-{}", size);
  if (split.dedicated() && split.groups.empty()) text += fmt::format("-{}", split.servers);
  return text;
}

const Entry* directory_of(const Document& document) {
  const Entry* const output = document.root().find("output");
  return output ? output->value.find("directory") : nullptr;
}

/// Results go next to the recorded run's, which the new run would otherwise refuse, replace or continue.
void put_directory(Lines& lines, const Document& document, const Split& split) {
  const std::string suffix = suffix_of(split);
  if (const Entry* const entry = directory_of(document)) {
    const Node& value = entry->value;
    std::size_t at = static_cast<std::size_t>(value.where.column) - 1 + value.text.size() + (value.quoted ? 1 : 0);
    if (!value.text.empty() && value.text.back() == '/') --at;
    std::string& line = lines[index_of(value.where)];
    if (at <= line.size()) line.insert(at, value.text == "." ? "/run" + suffix : suffix);
    return;
  }
  const std::string option = "directory: run" + suffix;
  const Entry* const output = document.root().find("output");
  if (output && output->value.kind == Node::Kind::map && !output->value.entries.empty()) {
    put_first(lines, output->value, option);
  } else {
    lines.push_back(fmt::format("output: {{{}}}", option));
  }
}

void put_placement(Lines& lines, const Document& document, const Split& split) {
  const Entry* const old = document.root().find("placement");
  if (old == nullptr) {
    lines.insert(lines.begin(), "placement: " + placement_text(split));
    return;
  }
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(index_of(old->where));
  const auto last = std::find_if_not(std::next(first), lines.end(), goes_on);
  // Comments and empty lines below the entry stay.
  auto end = last;
  while (end != std::next(first) && (std::prev(end)->empty() || std::prev(end)->front() == '#')) --end;
  *first = entry_of(old->value, split);
  lines.erase(std::next(first), end);
}

/// True if the text is read as the split says, and has as many tasks as before.
bool says(const std::string& text, const Document& before, const Split& split) {
  const auto after = parse_document(text, before.file());
  const Entry* const placement = after->root().find("placement");
  if (placement == nullptr) return false;
  const Node& value = placement->value;
  const Entry* const mode = value.find("mode");
  if ((mode ? mode->value.text : value.text) != split.mode) return false;
  const Entry* const directory = directory_of(*after);
  if (directory == nullptr || directory->value.text.find(suffix_of(split)) == std::string::npos) return false;
  const std::vector<WrittenTask> tasks = written_tasks(*after);
  if (tasks.size() != written_tasks(before).size()) return false;
  if (split.groups.empty()) return true;
  const std::vector<std::string> groups = wanted_groups(before, split);
  return std::equal(tasks.begin(), tasks.end(), groups.begin(),
                    [&](const WrittenTask& task, const std::string& group) { return task.group == group; });
}

}  // namespace

std::string placed(const std::string& configuration, const std::string& file, const Split& split) {
  const auto document = parse_document(configuration, file);
  Lines lines = lines_of(configuration);
  if (!split.groups.empty()) put_groups(lines, *document, split);
  put_directory(lines, *document, split);
  put_placement(lines, *document, split);
  const std::string text = fmt::format("{}\n", fmt::join(lines, "\n"));
  if (!says(text, *document, split)) {
    fail(Code::usage,
         "{}: the recorded configuration cannot be edited, since its entries do not begin lines of their own; leave "
         "--output out and write `placement: {}` and another `output.directory` yourself",
         file, placement_text(split));
  }
  return text;
}

}  // namespace sidestream
