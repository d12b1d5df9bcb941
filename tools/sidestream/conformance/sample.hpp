// Known fields on the meshes of a configuration, divided among blocks in any way, as tasks see them on servers.
// Values are smooth in every direction, optionally with exceptional numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "data/images.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::conformance {

/// A division of the meshes and the treatment of values. Ghosts and shared nodes of other blocks hold wrong values,
/// which no task may use.
struct Case {
  std::string name;
  Index3 parts{1, 1, 1};    ///< blocks along each axis; more than cells make empty blocks
  int ghosts = 0;           ///< layers of invalid points around each array
  int groups = 1;           ///< number of times that `local` runs for each combining server, as with forwarders
  bool backwards = false;   ///< ids decrease with the position
  bool nothing = false;     ///< no block is delivered
  bool odd_values = false;  ///< NaN, infinities, and the smallest and largest numbers among the values
};

/// The blocks of one server, or of one group of it.
class Views {
 public:
  /// Server `server` of `servers` has every `servers`-th block.
  Views(const Metadata& metadata, const Selection& selection, const Case& how, int server, int servers);
  [[nodiscard]] const std::vector<std::vector<BlockView>>& blocks() const noexcept { return views_; }
  /// The argument of `local` or `write` on that server. Refers to all arguments.
  [[nodiscard]] LocalInput input(const Iteration& iteration, const Metadata& metadata, int pass, BytesView feedback,
                                 const Catalogue* catalogue) const {
    return {iteration, metadata, views_, pass, feedback, catalogue, entries_, server_, servers_};
  }

 private:
  void add_variable(const Metadata& metadata, const Selected& selected, const Case& how);
  void add_points(const Metadata& metadata, const Variable& variable, const Case& how);
  /// Adds flags to all views of a block, if there are flags.
  void flag_ghosts(const Metadata& metadata);
  void add_piece(const Metadata& metadata, const Selected& selected, const Case& how);
  void add_halo(BlockView& view, const Mesh& mesh, const Variable& variable, const Selected& selected,
                const std::vector<std::vector<Box>>& owned, const Case& how);
  ArrayView array(const Variable& variable, const Box& box, const std::vector<PeriodicImage>& right, const Case& how);
  int server_, servers_;
  std::deque<Bytes> memory_;
  std::vector<std::vector<BlockView>> views_;
  std::deque<std::vector<BlockView>> pieces_;  ///< pieces of decompositions, by entry
  std::vector<EntryViews> entries_;
};

/// The blocks of a mesh of points.
[[nodiscard]] std::vector<Block> point_blocks(const Mesh& mesh, const Case& how);

/// The reason why there is no sample for these meshes; empty if there is one.
[[nodiscard]] std::string unsuitable(const Metadata& metadata);

/// All blocks in the form of a catalogue.
[[nodiscard]] Catalogue catalogue_of(const Metadata& metadata, const Case& how);

/// The part of the catalogue that a task sees: nothing, or what its selection asks for.
[[nodiscard]] Catalogue catalogue_for(const Metadata& metadata, const Selection& selection, const Case& how);

/// Different for each variable and component, between 0.2 and 3.8, so that it fits every type.
inline double smooth(const Variable& variable, const Index3& p, int component) {
  const double phase = 0.9 * variable.id + 0.4 * component;
  const auto [i, j, k] = std::tuple(static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]));
  return 2 + std::sin(0.71 * i + phase) * std::cos(0.43 * j) + 0.8 * std::sin(0.57 * k - 0.3 * i * phase);
}

/// `odd`: a fifth of the values are NaN, infinite, or the smallest and largest numbers.
template <class T>
T value_at(const Variable& variable, const Index3& p, int component, bool odd) {
  const auto number = static_cast<std::uint64_t>(p[0] + 7 * p[1] + 31 * p[2] + component);
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr T all[] = {Limits::quiet_NaN(),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::max(),
                         Limits::lowest(),
                         Limits::denorm_min(),
                         T(0),
                         T(-0.0)};
    if (odd && number % 5 == 0) return all[number / 5 % std::size(all)];
  } else if (odd && number % 5 == 0) {
    return number % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  }
  return static_cast<T>(smooth(variable, p, component) * (std::is_floating_point_v<T> ? 1 : 25));
}

}  // namespace sidestream::conformance
