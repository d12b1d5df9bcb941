#include "storage/database/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <unordered_set>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/database/segment.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

namespace {

std::string path_of(const std::string& directory) { return (fs::path(directory) / journal_name).string(); }

std::string skipped_slot(const std::string& path, std::uint64_t slot, std::size_t bytes) {
  if (bytes < slot_bytes) {
    return fmt::format("{}: slot {} has {} of {} bytes: a run ended while it committed this context, which is dropped",
                       path, slot, bytes, slot_bytes);
  }
  return fmt::format(
      "{}: slot {} is damaged, or a run ended while it was written; the context that it stands for is dropped", path,
      slot);
}

/// Moves the contexts with these slots to the removed ones, in the order of the slots.
void remove_all(Journal& journal, const std::unordered_set<std::uint64_t>& slots) {
  if (slots.empty()) return;
  const auto stays = [&](const Entry& entry) { return !slots.contains(entry.slot); };
  const auto gone = std::stable_partition(journal.contexts.begin(), journal.contexts.end(), stays);
  journal.removed.assign(gone, journal.contexts.end());
  journal.contexts.erase(gone, journal.contexts.end());
}

}  // namespace

bool is_database(const std::string& directory) {
  std::error_code ignored;
  return fs::is_regular_file(path_of(directory), ignored);
}

Journal read_journal(const std::string& directory) {
  const std::string path = path_of(directory);
  if (!is_database(directory)) {
    fail(Code::file,
         "'{}' is no database: it has no file '{}'; give the directory that an output 'database' has written",
         directory, journal_name);
  }
  const std::string text = read_file(path);
  return parse_journal(std::as_bytes(std::span(text)), path);
}

Journal parse_journal(BytesView bytes, const std::string& path) {
  using What = SlotContent::What;
  Journal journal;
  std::unordered_set<std::uint64_t> removed;
  if (bytes.empty()) journal.remarks.push_back(fmt::format("{}: the file is empty; it was cut off", path));
  for (std::uint64_t slot = 0; slot * slot_bytes < bytes.size(); ++slot) {
    const BytesView rest = bytes.subspan(slot * slot_bytes);
    const BytesView part = rest.first(std::min<std::size_t>(rest.size(), slot_bytes));
    const SlotContent content = read_slot(part, slot);
    if (content.what == What::newer) {
      fail(Code::file, "{}: version {} of the format, expected {}; use a newer Sidestream", path, content.entry.version,
           format_version);
    }
    journal.run = std::max(journal.run, content.run);
    if (content.what == What::context) journal.contexts.push_back(content.entry);
    // Removals apply to earlier slots only, not to contexts that are written later.
    if (content.what == What::removal && content.removed < slot) removed.insert(content.removed);
    if (slot == 0 && content.what != What::head) {
      journal.remarks.push_back(fmt::format("{}: the head is damaged; contexts are read all the same", path));
    } else if (content.what == What::broken || (content.what == What::empty && slot > 0)) {
      journal.remarks.push_back(skipped_slot(path, slot, part.size()));
    }
  }
  remove_all(journal, removed);
  journal.slots = (bytes.size() + slot_bytes - 1) / slot_bytes;
  return journal;
}

bool is_removed(const std::string& directory, std::uint64_t slot) {
  const std::vector<Entry> there = read_journal(directory).contexts;
  return std::none_of(there.begin(), there.end(), [slot](const Entry& entry) { return entry.slot == slot; });
}

// The part of the journal that writers need; readers do without.

namespace fs = std::filesystem;

void create_journal(const std::string& directory, bool flush) {
  const std::string path = (fs::path(directory) / journal_name).string();
  make_directory_of(path);
  const Slot head = head_slot();
  // Create it under another name: an incomplete head means damage, not a beginning.
  const std::string temporary = (fs::path(directory) / fmt::format(".{}.part", journal_name)).string();
  write_file(temporary, {reinterpret_cast<const char*>(head.data()), head.size()});
  if (flush) flush_to_disk(temporary);
  rename_file(temporary, path);
  if (flush) flush_directory(directory);
}

void append_slot(const std::string& directory, std::uint64_t number, const Slot& slot, bool flush) {
  GrowingFile file((fs::path(directory) / journal_name).string(), GrowingFile::Open::existing);
  file.write(number * slot_bytes, slot);
  if (flush) file.flush();
  file.close();
}

std::vector<Entry> candidates(const Journal& journal, const Wanted& wanted, const std::string& directory) {
  std::vector<Entry> found;
  for (const Entry& entry : journal.contexts) {
    if (wanted.cycle && entry.iteration.cycle != *wanted.cycle) continue;
    if (wanted.kind && entry.kind != *wanted.kind) continue;
    found.push_back(entry);
  }
  std::reverse(found.begin(), found.end());
  if (!found.empty()) return found;
  const std::string which = wanted.cycle ? fmt::format(" of cycle {}", *wanted.cycle) : "";
  const std::string kind = wanted.kind ? fmt::format(" of the kind {}", name_of(*wanted.kind)) : "";
  std::string remarks;
  for (const std::string& remark : journal.remarks) remarks += "; " + remark;
  fail(Code::file, "the database '{}' has no context{}{}, but {} in all; see `sidestream ls {}`{}", directory, which,
       kind, journal.contexts.size(), directory, remarks);
}

std::string name_of(const Entry& entry) {
  return fmt::format("cycle {} (run {}, iteration {}, time {})", entry.iteration.cycle, entry.run,
                     entry.iteration.index, entry.iteration.time);
}

std::string_view name_of(Kind kind) noexcept { return kind == Kind::checkpoint ? "checkpoint" : "post"; }

}  // namespace sidestream::database
