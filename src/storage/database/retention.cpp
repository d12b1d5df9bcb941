#include "storage/database/retention.hpp"

#include <algorithm>
#include <filesystem>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

void Retention::committed(std::uint64_t slot, std::uint32_t first, std::uint32_t last) {
  contexts_.push_back({slot, first, last});
}

std::vector<std::uint64_t> Retention::surplus(int keep) const {
  std::vector<std::uint64_t> slots;
  for (std::size_t n = 0; n + static_cast<std::size_t>(keep) < contexts_.size(); ++n)
    slots.push_back(contexts_[n].slot);
  return slots;
}

void Retention::drop(const std::vector<std::uint64_t>& slots, std::uint32_t run, std::uint32_t group) noexcept {
  for (const std::uint64_t slot : slots) {
    const auto found =
        std::find_if(contexts_.begin(), contexts_.end(), [slot](const Kept& c) { return c.slot == slot; });
    if (found == contexts_.end()) continue;
    const Kept dropped = *found;
    contexts_.erase(found);
    for (std::uint32_t number = dropped.first; number <= dropped.last; ++number) {
      const bool used = std::any_of(contexts_.begin(), contexts_.end(),
                                    [&](const Kept& c) { return c.first <= number && number <= c.last; });
      if (used) continue;
      try {
        std::error_code error;
        const fs::path path = fs::path(directory_) / segment_name(run, group, number);
        fs::remove(path, error);
        if (error)
          log::warning("cannot remove '{}' ({}); `sidestream prune` will", path.string(), system_text(error.value()));
      } catch (const std::exception&) {  // no memory for its name: it stays until somebody prunes
      }
    }
  }
}

}  // namespace sidestream::database
