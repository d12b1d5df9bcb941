#include <cstring>

#include "storage/database/journal.hpp"
#include "targets.hpp"

namespace sidestream::fuzz {

/// Slots get right checksums, so that readers look at their contents. The last one is unchanged.
void run_contexts(BytesView input) {
  using database::slot_bytes;
  Bytes bytes(input.begin(), input.end());
  for (std::size_t slot = 0; (slot + 2) * slot_bytes <= bytes.size(); ++slot) {
    std::byte* at = bytes.data() + slot * slot_bytes;
    const std::uint64_t checksum = database::checksum_of(BytesView(at, slot_bytes - sizeof checksum));
    std::memcpy(at + slot_bytes - sizeof checksum, &checksum, sizeof checksum);
  }
  database::Journal journal;
  const std::size_t slots = (bytes.size() + slot_bytes - 1) / slot_bytes;
  try {
    journal = database::parse_journal(bytes, "contexts");
  } catch (const Error& error) {
    if (error.code() != Code::file) throw;
    return;  // the head has a newer version
  }
  const bool sound = journal.slots == slots && journal.contexts.size() + journal.removed.size() <= slots;
  if (!sound) throw std::logic_error("slots were counted wrongly");
  for (const database::Entry& entry : journal.contexts) {
    if (entry.slot == 0 || entry.slot >= slots) throw std::logic_error("a context in no slot");
  }
}

}  // namespace sidestream::fuzz
