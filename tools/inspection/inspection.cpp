#include "inspection/inspection.hpp"

#include <algorithm>
#include <filesystem>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/database/context.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

Pruned prune(const std::string& directory, const PruneOptions& options) {
  static_cast<void>(read_journal(directory));  // checked before a lock is created in a directory that is no database
  const DirectoryLock lock(directory, lock_name);
  Journal journal = read_journal(directory);
  Pruned pruned;
  const auto count = static_cast<std::int64_t>(journal.contexts.size());
  const std::int64_t surplus = options.keep < 0 ? 0 : std::max<std::int64_t>(0, count - options.keep);
  const auto first_kept = journal.contexts.begin() + surplus;
  std::vector<Entry> removed = journal.removed;
  removed.insert(removed.end(), journal.contexts.begin(), first_kept);
  SegmentUse use;
  // An unreadable context may use any file, so nothing next to it is deleted.
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
  if (options.dry_run) return pruned;
  for (const std::uint64_t slot : pruned.contexts) {
    append_slot(directory, journal.slots, removal_slot(journal.slots, 0, slot), true);
    ++journal.slots;
  }
  for (const std::string& name : pruned.files) fs::remove(fs::path(directory) / name);
  return pruned;
}

namespace {

InspectedContext inspect_context(const std::string& directory, const Entry& entry, SegmentUse& use) {
  InspectedContext found{entry, {}, false};
  try {
    Context context(directory, entry);
    found.damages = verify(context);
    use.add(context);
  } catch (const Error& error) {
    if (found.damages.empty()) found.damages.emplace_back(error.what());
    use.add_unreadable(entry);
  }
  if (!found.damages.empty()) found.removed = is_removed(directory, entry.slot);
  return found;
}

}  // namespace

Inspection inspect(const std::string& directory) {
  const Journal journal = read_journal(directory);
  Inspection found;
  found.remarks = journal.remarks;
  SegmentUse use;
  for (const Entry& entry : journal.contexts) found.contexts.push_back(inspect_context(directory, entry, use));
  // A writing run creates files before it names them, so changes in between are no sign of damage.
  const auto is_quiet = [&] {
    return !is_locked(directory, lock_name) && read_journal(directory).slots == journal.slots;
  };
  if (!is_quiet()) {
    found.is_written = true;
    return found;
  }
  try {
    found.unnamed = find_unnamed(directory, journal, journal.removed, use);
  } catch (const Error&) {  // a run created or deleted files during the look
    if (is_quiet()) throw;
  }
  if (!is_quiet()) {
    found.is_written = true;
    found.unnamed = {};
  }
  return found;
}

}  // namespace sidestream::database
