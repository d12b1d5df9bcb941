// The text of an index of files, and of the hidden file beside it that has what the index lacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/iteration.hpp"

namespace sidestream {

/// A file that an index lists.
struct ListedFile {
  std::string name;  ///< relative to the index
  /// Missing if the index does not say all of it, as those that ParaView writes.
  std::optional<Iteration> iteration;
};

/// Writes the entry of a file, on one line.
[[nodiscard]] std::string entry_text(const std::string& name, const Iteration& iteration);

/// Reads an index. Throws Error(file) if it cannot be understood.
[[nodiscard]] std::vector<ListedFile> parse_index(std::string_view text);
/// Reads a hidden file, which has an entry on each line. Leaves out a line without end: it was being written in a
/// crash.
[[nodiscard]] std::vector<ListedFile> parse_rest(std::string_view text);

}  // namespace sidestream
