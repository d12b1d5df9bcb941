// Predicts the values of sibling groups from values that a decoder already has.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "amr_codec/values/chunk_view.hpp"
#include "amr_codec/values/elements.hpp"

namespace sidestream::trees {

/// The extrapolation of children from their parent.
enum class Slope : std::uint8_t {
  none = 0,     ///< not at all: the parent's value
  central = 1,  ///< along the line through both neighbours of the parent
  limited = 2,  ///< along the flatter line to a neighbour; 0 if the two slopes differ in sign (minmod)
};

/// The prediction of the last sibling.
enum class Last : std::uint8_t {
  slope = 0,     ///< as the others are
  plain = 1,     ///< from the mean, which is the parent
  declared = 2,  ///< from the declared MeanRelation
};

/// Terms that correct a prediction by slopes. Terms 0 to 6 are the residuals of earlier siblings, by their place in the
/// order. The next terms belong to the pairs of axes (x y, x z, y z): the change of the second axis's slope along the
/// first axis. The last terms belong to the axes: the second difference of each slope along its own axis.
inline constexpr std::size_t pair_terms = 7, axis_terms = 10, correction_terms = 13;
/// The weight of each term for each child (by its place in the order), in 64ths. The last child is not corrected.
using CorrectionWeights = std::array<std::array<std::int8_t, correction_terms>, 8>;

/// Calls f(term) for each term of a child. `curved`: true if there are slopes.
template <class F>
void each_correction(std::size_t step, std::size_t dimensions, bool curved, F&& f) {
  for (std::size_t other = 0; other < step; ++other) f(other);
  if (!curved) return;
  for (std::size_t pair = 0; pair < dimensions * (dimensions - 1) / 2; ++pair) f(pair_terms + pair);
  for (std::size_t axis = 0; axis < dimensions; ++axis) f(axis_terms + axis);
}

/// The parts of a prediction that a stream uses; stored in the stream.
struct PredictionPlan {
  Slope slope = Slope::none;
  Last last = Last::slope;
  bool shared = false, divergence = false, closure = false;
  bool across = false;     ///< faces are also predicted from other groups' faces
  bool faces = false;      ///< values lie on faces; needed by shared, divergence and across
  bool factor = false;     ///< parents are multiplied by their factor
  bool corrected = false;  ///< predictions by slopes are corrected by `weights`; not with `closure`, `faces` or one
                           ///< dimension
  CorrectionWeights weights{};
  [[nodiscard]] std::uint16_t bits() const noexcept;
  /// The plan with these bits. Throws Error(file) if there is none.
  static PredictionPlan of(std::uint16_t bits);
};

/// The plan with everything that the relations allow; trials may remove parts.
[[nodiscard]] PredictionPlan full_plan(const TreeChunk& chunk, const Relations& relations);
/// The plan without relations.
[[nodiscard]] PredictionPlan plain_plan(const TreeChunk& chunk);

/// Throws Error(file) if the plan needs relations that are not declared.
void check_plan(const PredictionPlan& plan, const Relations& relations);

/// Bit n is set if the plan reads companion n of these relations.
[[nodiscard]] std::uint32_t companions_of(const PredictionPlan& plan, const Relations& relations);

/// The origin of a prediction. Residuals of each origin have their own typical size.
enum class Source : std::uint8_t { slope = 0, mean = 1, shared = 2, divergence = 3, closure = 4 };
inline constexpr std::size_t sources = 5;

/// True if predictions read the neighbours of the parent cells.
[[nodiscard]] bool needs_beside(const PredictionPlan& plan) noexcept;

class GroupOrder;

/// Slopes around the parents of a chunk. Corrected plans use their changes between neighbouring parents.
struct ParentSlopes {
  std::unique_ptr<double[]> values;  ///< three slopes and `change` for each group
  /// A row for each side. It has the neighbour of each group, or the group itself if there is none.
  std::unique_ptr<std::int32_t[]> beside;
};

/// Predicts a chunk tile by tile, and each tile child by child. All arithmetic is in double and in a fixed order, so
/// that decoders get the same bits.
class Predictor {
 public:
  /// A number for each group of a tile.
  using Row = std::array<double, tile_groups>;
  /// A number for each cell of a tile, in the order of the cells.
  using Cells = std::array<double, 8 * tile_groups>;

  /// `own`: the values; those before the current tile are known. `finder`: the chunk's finder, or null. Throws
  /// Error(usage) if the chunk lacks what the plan needs.
  Predictor(const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan, BytesView own,
            const GroupFinder* finder = nullptr);
  /// Visits groups in that order, and takes fluxes and neighbours from it instead of from companions.
  void use(const GroupOrder& group_order) noexcept;
  /// Uses slopes from find_slopes() of a Predictor with the same chunk and kind of slopes. Without this call, a
  /// corrected plan computes them in the first tile.
  void use(const ParentSlopes& slopes) noexcept {
    if (slopes.values) parent_slopes_ = &slopes;
  }
  [[nodiscard]] ParentSlopes find_slopes();
  /// Declares all of `own` known, for trials.
  void know_all() noexcept { all_known_ = true; }

  /// Begins a tile of `count` groups (at most tile_groups) from number `first` on.
  void begin(std::size_t first, std::size_t count);
  [[nodiscard]] std::size_t steps() const noexcept { return children_; }
  /// The child that a step predicts.
  [[nodiscard]] std::size_t child(std::size_t step) const noexcept { return order_[step]; }
  /// Predicts one child of each group. Steps ascend from 0; call known() with the values after each.
  void predict(std::size_t step);
  [[nodiscard]] const Row& predicted() const noexcept { return predicted_; }
  [[nodiscard]] const std::array<Source, tile_groups>& from() const noexcept { return from_; }
  /// True if all predictions of the step have the same source.
  [[nodiscard]] bool uniform() const noexcept { return uniform_; }
  /// The number that a group of the tile has in the chunk.
  [[nodiscard]] std::size_t group(std::size_t g) const noexcept {
    return sequence_ == nullptr ? first_ + g : sequence_[first_ + g];
  }
  /// The numbers of the groups of the tile, or null if they are consecutive.
  [[nodiscard]] const std::uint32_t* groups() const noexcept {
    return sequence_ == nullptr ? nullptr : sequence_ + first_;
  }
  /// The difference between the parents around each group. Residuals of predictions by slopes grow with it. Null if
  /// unknown.
  [[nodiscard]] const double* change() const noexcept {
    return plan_.slope == Slope::none || !by_parents_ ? nullptr : change_.data();
  }
  /// Values of the parents; defined if change() is not null.
  [[nodiscard]] const double* parents() const noexcept { return parent_.data(); }
  void known(std::size_t step, const Row& values);
  /// One correction term of all groups.
  [[nodiscard]] const Row& term(std::size_t number) const noexcept { return terms_[number]; }

 private:
  void lay_out_cells();
  void lay_out_faces();
  void read_parent_numbers();
  void read_numbers_beside();
  void read_parents();
  void read_slopes();
  void read_fluxes();
  void begin_mean();
  void by_parent(std::size_t step);
  void by_slope(std::size_t child, Row& out) const;
  void read_curvature();
  struct GroupsBeside {
    const std::int32_t *lower, *upper;
  };
  void add_curvature(const double* slopes, const GroupsBeside& beside, std::size_t axis, const Row& own,
                     std::size_t count);
  void correct(std::size_t step);
  void by_mean(std::size_t child);
  void by_closure(std::size_t child);
  void by_shared(std::size_t child);
  void by_divergence(std::size_t step);
  void add_to_sum(std::size_t step, const Row& values);
  [[nodiscard]] bool declared() const noexcept { return plan_.last == Last::declared; }
  void read_companions();
  /// Values of a companion in the cells of the tile.
  [[nodiscard]] const double* cells_of(int companion) const noexcept {
    return near_[static_cast<std::size_t>(companion)];
  }
  void read_parent_cells(int companion, Row& out) const;
  void add_terms(const std::vector<RelationTerm>& terms, Cells& out) const;
  void add_parent_terms(const std::vector<RelationTerm>& terms, Row& out);
  void by_neighbour(std::size_t child);
  /// The cell across this child's face, for each group; -1 if it is unknown.
  void cells_across(std::size_t child, std::array<Index, tile_groups>& cells) const noexcept;
  /// Replaces predictions by `other` in groups with a neighbour across the face.
  void take_across(Source source, const Row& other) noexcept;
  /// Finds the neighbour of each group across the variable's face, in the chunk; -1: none.
  void find_across();

  const TreeChunk& chunk_;
  const Relations& relations_;
  PredictionPlan plan_;
  BytesView own_;
  std::span<const double> fluxes_{};
  const std::uint32_t* sequence_ = nullptr;
  const GroupOrder* group_order_ = nullptr;
  bool all_known_ = false;
  std::size_t dimensions_, children_;
  std::array<std::size_t, 8> order_{};
  std::size_t members_ = 0;  ///< number of children whose mean is the parent; they come first in the order
  std::array<std::array<double, 3>, 8> offsets_{};  ///< each child's distance from its parent, in lengths of the parent
  GroupFinder own_finder_;
  const GroupFinder* finder_;
  std::uint32_t needed_ = 0;              ///< companions that are read, one bit each
  std::array<const double*, 32> near_{};  ///< values of those in the tile
  // These arrays are not initialised before they are needed, because tiles of trials are smaller.
  std::unique_ptr<Cells[]> copies_;     ///< copies of companions that are not aligned doubles
  std::unique_ptr<Row[]> parent_rows_;  ///< values in parents of the companions that are read

  std::size_t first_ = 0, count_ = 0;
  bool uniform_ = true;
  bool by_parents_ = true;   ///< some of the tile is predicted by slopes or from a mean
  bool all_across_ = false;  ///< every group has a known neighbour across the face
  bool none_across_ = true;  ///< no group has one
  std::array<Index, tile_groups> parent_at_, across_;
  std::array<std::array<Index, tile_groups>, 6> beside_at_;
  Row parent_, goal_, sum_, predicted_, change_;  ///< goal: the final value of the sum
  std::array<Row, 3> slopes_;
  std::array<Row, 8> values_;           ///< the children known so far; only with `divergence`
  std::array<Row, 8> slope_predicted_;  ///< predictions before correction, by step
  std::array<Row, correction_terms> terms_;
  const ParentSlopes* parent_slopes_ = nullptr;
  ParentSlopes own_slopes_{};
  Cells cells_;  ///< work space in the order of cells
  // For each child: factors and terms of a declared mean (a closure has only terms), and fluxes (read_face_fluxes).
  std::array<Row, 8> weight_, offset_, flux_;
  std::array<Source, tile_groups> from_{};
};

}  // namespace sidestream::trees
