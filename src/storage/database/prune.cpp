#include "storage/database/prune.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/fail.hpp"
#include "base/folder_names.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "storage/directory_lock.hpp"
#include "storage/output_file.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

namespace {

std::set<std::string> segments_of(Context& context) {
  std::set<std::string> names{
      segment_name(context.entry().run, context.entry().record.group, context.entry().record.number)};
  for (const GroupEntry& group : context.groups()) {
    for (std::uint32_t number = group.first; number <= group.last; ++number) {
      names.insert(segment_name(context.entry().run, group.group, number));
    }
  }
  return names;
}

}  // namespace

Pruned prune(const std::string& directory, std::int64_t keep, bool look) {
  static_cast<void>(read_journal(directory));  // before a lock is made in a directory that is none
  const DirectoryLock lock(directory, lock_name);
  Journal journal = read_journal(directory);
  Pruned pruned;
  const auto count = static_cast<std::int64_t>(journal.contexts.size());
  const std::int64_t surplus = keep < 0 ? 0 : std::max<std::int64_t>(0, count - keep);
  std::set<std::string> used;
  for (std::int64_t n = 0; n < count; ++n) {
    const Entry& entry = journal.contexts[static_cast<std::size_t>(n)];
    if (n < surplus) {
      pruned.contexts.push_back(entry.slot);
      pruned.left += entry.stored;
      continue;
    }
    // A context that cannot be read any more may use anything: nothing is deleted beside it.
    Context context(directory, entry);
    used.merge(segments_of(context));
    if (fs::exists(fs::path(directory) / shown_name(entry.slot))) used.insert(shown_name(entry.slot));
  }
  for (const std::uint64_t slot : pruned.contexts) {
    if (!look) append_slot(directory, journal.slots, removal_slot(journal.slots, 0, slot), true);
    ++journal.slots;
  }
  for (const std::string& name : names_in_folder(directory)) {
    const bool ours = run_of_segment(name) > 0 || (name.starts_with("context-") && name.ends_with(".h5"));
    if (!ours || used.contains(name)) continue;
    pruned.files.push_back(name);
    pruned.bytes += size_of_file((fs::path(directory) / name).string());
  }
  std::sort(pruned.files.begin(), pruned.files.end());
  pruned.left -= std::min(pruned.left, pruned.bytes);
  if (!look) {
    for (const std::string& name : pruned.files) fs::remove(fs::path(directory) / name);
  }
  return pruned;
}

}  // namespace sidestream::database
