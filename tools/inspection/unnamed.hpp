// Files in a database's directory that no slot names, left by killed runs or by a truncated file of slots.
#pragma once

#include <string>
#include <vector>

#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace sidestream::database {

/// The segments of contexts, and their used bytes.
class SegmentUse {
 public:
  /// Adds the segments of a context, and its byte ranges. Throws Error(file) if its tables cannot be read.
  void add(Context& context);
  /// Adds a context that cannot be read: any segment of its run may belong to it.
  void add_unreadable(const Entry& entry) { whole_runs_.push_back(entry.run); }
  [[nodiscard]] bool has(const SegmentName& segment) const;
  /// Ranges of bytes that belong to no context: beginnings and ends, in ascending order, up to `size`.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps(const SegmentName& segment,
                                                                          std::uint64_t size) const;

 private:
  struct Range {
    std::uint32_t run, group, first, last;
  };
  struct Extent {
    std::uint64_t begin, end;
  };
  using Key = std::array<std::uint32_t, 3>;
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> whole_runs_;
  std::map<Key, std::vector<Extent>> extents_;
};

struct Unnamed {
  std::vector<std::string> spare;  ///< files of no context, left by killed runs and removals
  std::vector<std::string> held;   ///< files of whole contexts without a slot
  std::vector<std::string> lost;   ///< a sentence for each sign of such a context
};

/// Finds the content of a directory besides the contexts whose segments are in `use`. `removed`: contexts that were
/// removed on purpose. Throws Error(file, system).
[[nodiscard]] Unnamed find_unnamed(const std::string& directory, const Journal& journal,
                                   const std::vector<Entry>& removed, const SegmentUse& use);

}  // namespace sidestream::database
