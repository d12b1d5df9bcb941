#include "config/options/former_names.hpp"

#include <map>
#include <span>

namespace sidestream {

namespace {

using Path = std::span<const std::string_view>;

void rename_here(Node& map, const FormerName& name, bool keep) {
  for (Entry& entry : map.entries) {
    if (entry.key != name.old) continue;
    if (const Entry* const both = map.find(name.now)) {
      fail_at(entry.where,
              "found the key '{}', the former name of '{}', and '{}' too (line {}), expected one of them; remove '{}'",
              name.old, name.now, name.now, both->where.line, name.old);
    }
    entry.key = name.now;
    if (keep) entry.formerly = name.old;
  }
}

void rename_below(Node& node, Path path, const FormerName& name, bool keep) {
  if (path.empty()) return rename_here(node, name, keep);
  for (Entry& entry : node.entries) {
    if (path.front() == "*" || entry.key == path.front()) rename_below(entry.value, path.subspan(1), name, keep);
  }
  if (path.front() != "*") return;
  for (Node& item : node.items) rename_below(item, path.subspan(1), name, keep);
}

/// The keys that had a former name, by that name, in the order of the file.
using Renamed = std::map<std::string, std::vector<const Entry*>>;

void collect(const Node& node, Renamed& renamed) {
  for (const Entry& entry : node.entries) {
    if (!entry.formerly.empty()) renamed[entry.formerly].push_back(&entry);
    collect(entry.value, renamed);
  }
  for (const Node& item : node.items) collect(item, renamed);
}

}  // namespace

const std::vector<FormerName>& former_names() {
  static const std::vector<FormerName> names{{{"variables", "*"}, "father", "parent"}};
  return names;
}

void rename_former(Node& root) {
  const bool metadata_file = root.find("sidestream_metadata") != nullptr;
  for (const FormerName& name : former_names()) rename_below(root, name.path, name, !metadata_file);
}

std::vector<std::string> former_names_in(const Document& document) {
  Renamed renamed;
  collect(document.root(), renamed);
  std::vector<std::string> warnings;
  for (const auto& [old, entries] : renamed) {
    const Entry& first = *entries.front();
    const std::string others = entries.size() == 1 ? std::string() : fmt::format(" ({} times)", entries.size());
    const std::string place = first.where.text();
    warnings.push_back(fmt::format("{}{}found the key '{}'{}, which is called '{}' now; write '{}'", place,
                                   place.empty() ? "" : ": ", old, others, first.key, first.key));
  }
  return warnings;
}

std::string current_attribute(const std::string& name) {
  static const std::vector<std::string_view> variables{"variables", "*"};
  for (const FormerName& one : former_names()) {
    if (one.path == variables && one.old == name) return std::string(one.now);
  }
  return name;
}

}  // namespace sidestream
