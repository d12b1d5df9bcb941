// The parts of a step, in which each value of an array is once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <sidestream/data/box.hpp>
#include <string>
#include <vector>

#include "part.hpp"

namespace sidestream::arrays {

struct AgreedArray;

/// A part, and where its values lie. Without an address nobody needs them.
struct Piece {
  Part part;
  std::vector<std::byte> copy{};       ///< of the values, or empty
  bool changeable = false;             ///< the values may be written: they are a copy, or in the session's memory
  bool lent = false;                   ///< the program writes the values until the step ends
  const AgreedArray* array = nullptr;  ///< null in the first step
  Box box{};                           ///< in the mesh of `array`
  bool placed = false;                 ///< the mesh has this box in this step
  bool known = false;                  ///< and it is a block already
  std::int64_t block = -1;             ///< the block in whose memory the values lie; -1: none

  /// Makes a copy of the values.
  void keep();
};

/// Pieces in the order of their parts, and by array. Those of one array have no values in common.
class Pieces {
 public:
  using Place = std::list<Piece>::iterator;

  Piece& add(Piece piece);
  void remove(Place place);
  void clear();
  /// Pieces of the part's array that have values in common with it. `known`: the part is a block.
  [[nodiscard]] std::vector<Place> overlapping(const Part& part, bool known = false);
  [[nodiscard]] bool have(const std::string& array) const { return arrays_.count(array) != 0; }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }

 private:
  /// Pieces of an array by their first index: no two have the same one.
  struct OfArray {
    std::map<std::vector<Index>, Place> by_start;
    Index longest = 0;    ///< along the slowest axis
    std::size_t odd = 0;  ///< pieces that are no known blocks
  };

  std::list<Piece> all_;
  std::map<std::string, OfArray> arrays_;
};

}  // namespace sidestream::arrays
