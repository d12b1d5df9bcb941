// The effect of a write of the program on a mapped dataset, as parts of arrays.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays/mapping.hpp"
#include "arrays/part.hpp"
#include "program_hdf5.hpp"

namespace sidestream::interposed {

/// A dataset that the mapping names, or the members of a compound type in it.
struct Target {
  Dataset dataset;
  std::string name;                   ///< for rules: with `{cycle}` instead of a number
  std::optional<std::int64_t> cycle;  ///< of its path
  bool is_time = false, nameless = false;
  bool stepped = false;  ///< its first axis counts steps
  bool points = false;   ///< its mesh is one of points
  bool grows = false;    ///< what a step adds along the first axis are its points
};

/// A box of a dataset, or of one member of it.
struct TakenPart {
  arrays::Part part;     ///< without the axis of steps
  std::string member{};  ///< empty: the values are no members
  /// Not empty: `part.data` is the first value in memory, and the values lie like this, `step` bytes from one to the
  /// next one.
  std::vector<Run> runs{};
  std::size_t step = 0;
  std::vector<std::byte> copy{};

  /// Copies values that lie like `runs`, as a box has them.
  void gather();
};

/// One dataset of a write.
struct TakenWrite {
  std::vector<TakenPart> parts{};
  bool is_time = false;
  bool complete = false;                                       ///< `parts` have all that is written
  std::optional<std::int64_t> index{};                         ///< of the step
  Index first_row = 0;                                         ///< along the first axis of the dataset
  std::string why{};                                           ///< why it is not published
  std::string selection{};                                     ///< in words, if this is why
  Id nameless = -1;                                            ///< the dataset, if it has no name yet
  std::vector<std::pair<std::string, std::string>> refused{};  ///< members, and why they are not published

  [[nodiscard]] bool has_values() const;
};
using TakenWrites = std::vector<TakenWrite>;

/// True if a rule says what becomes of an array.
[[nodiscard]] bool is_mapped(const arrays::Mapping& mapping, const std::string& name);

/// The name of a member for rules: `dataset.member`.
[[nodiscard]] std::string member_name(const std::string& dataset, const std::string& member);

/// Says that rules name a dataset whose members they should name.
[[nodiscard]] std::string why_no_member(const std::string& dataset, const ValueType& type);

/// Reads the n-th dataset of a write. Of compound types only the members that the mapping names count.
[[nodiscard]] TakenWrite take_write(const ProgramHdf5& hdf5, const sidestream_hdf5_write& write, std::size_t n,
                                    const Target& target, const arrays::Mapping& mapping);

}  // namespace sidestream::interposed
