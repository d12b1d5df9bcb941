// Files in the directory of a database that no slot names: killed runs leave them, or a truncated file of slots.
#pragma once

#include <string>
#include <vector>

#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace sidestream::database {

/// The segments of contexts, and the bytes of them that are used.
class SegmentUse {
 public:
  /// The segments of a context, and where its bytes lie. Throws Error(file) where its tables cannot be read.
  void add(Context& context);
  /// A context that cannot be read: any segment of its run may be its own.
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
  std::vector<std::string> spare;  ///< files of no context: what killed runs and removals leave
  std::vector<std::string> held;   ///< files of contexts that are whole and have no slot
  std::vector<std::string> lost;   ///< a sentence for each sign of such a context
};

/// Finds the contents of a directory besides the contexts whose segments are in `use`. `removed`: contexts that were
/// removed on purpose. Throws Error(file, system).
[[nodiscard]] Unnamed find_unnamed(const std::string& directory, const Journal& journal,
                                   const std::vector<Entry>& removed, const SegmentUse& use);

}  // namespace sidestream::database
