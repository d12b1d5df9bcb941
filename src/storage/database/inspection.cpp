#include "storage/database/inspection.hpp"

#include "sidestream/kit/base/fail.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream::database {

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
  // A run that writes begins files before it names them: what changed meanwhile says nothing.
  const auto is_quiet = [&] {
    return !is_locked(directory, lock_name) && read_journal(directory).slots == journal.slots;
  };
  if (!is_quiet()) {
    found.is_written = true;
    return found;
  }
  try {
    found.unnamed = find_unnamed(directory, journal, journal.removed, use);
  } catch (const Error&) {  // files that a run makes or deletes while they are looked at
    if (is_quiet()) throw;
  }
  if (!is_quiet()) {
    found.is_written = true;
    found.unnamed = {};
  }
  return found;
}

}  // namespace sidestream::database
