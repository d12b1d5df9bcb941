#include "storage/database/inspection.hpp"

#include <algorithm>
#include <filesystem>

#include "sidestream/kit/base/fail.hpp"
#include "storage/database/unnamed.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/files/output_file.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

Pruned prune(const std::string& directory, const PruneOptions& options) {
  static_cast<void>(read_journal(directory));  // before a lock is made in a directory that is none
  const DirectoryLock lock(directory, lock_name);
  Journal journal = read_journal(directory);
  Pruned pruned;
  const auto count = static_cast<std::int64_t>(journal.contexts.size());
  const std::int64_t surplus = options.keep < 0 ? 0 : std::max<std::int64_t>(0, count - options.keep);
  const auto first_kept = journal.contexts.begin() + surplus;
  std::vector<Entry> removed = journal.removed;
  removed.insert(removed.end(), journal.contexts.begin(), first_kept);
  SegmentUse use;
  // A context that cannot be read any more may use anything: nothing is deleted beside it.
  for (auto entry = first_kept; entry != journal.contexts.end(); ++entry) {
    Context context(directory, *entry);
    use.add(context);
  }
  for (auto entry = journal.contexts.begin(); entry != first_kept; ++entry) {
    pruned.contexts.push_back(entry->slot);
    pruned.left += entry->stored;
  }
  journal.contexts.erase(journal.contexts.begin(), first_kept);
  Unnamed unnamed = find_unnamed(directory, journal, removed, use);
  pruned.lost = std::move(unnamed.lost);
  pruned.files = std::move(unnamed.spare);
  std::vector<std::string>& held = options.lost ? pruned.files : pruned.kept;
  held.insert(held.end(), unnamed.held.begin(), unnamed.held.end());
  std::sort(pruned.files.begin(), pruned.files.end());
  for (const std::string& name : pruned.files) pruned.bytes += size_of_file((fs::path(directory) / name).string());
  pruned.left -= std::min(pruned.left, pruned.bytes);
  if (options.look) return pruned;
  for (const std::uint64_t slot : pruned.contexts) {
    append_slot(directory, journal.slots, removal_slot(journal.slots, 0, slot), true);
    ++journal.slots;
  }
  for (const std::string& name : pruned.files) fs::remove(fs::path(directory) / name);
  return pruned;
}

}  // namespace sidestream::database
