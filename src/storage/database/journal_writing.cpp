// The part of the journal that writers need; readers do without.
#include <fmt/format.h>

#include <filesystem>

#include "storage/database/journal.hpp"
#include "storage/database/segment.hpp"
#include "storage/files/output_file.hpp"
#include "storage/files/replace_file.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

void create_journal(const std::string& directory, bool flush) {
  const std::string path = (fs::path(directory) / journal_name).string();
  make_directory_of(path);
  const Slot head = head_slot();
  // Under another name first: a head that is not whole is damage, not a beginning.
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

}  // namespace sidestream::database
