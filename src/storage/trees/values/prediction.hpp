// What the values of sibling groups are expected to be, from what a decoder has at that moment.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/trees/values/chunk_view.hpp"
#include "storage/trees/values/elements.hpp"

namespace sidestream::trees {

/// How a child differs from its parent.
enum class Slope : std::uint8_t {
  none = 0,     ///< not
  central = 1,  ///< along the line through what is beside the parent
  limited = 2,  ///< along the flatter of the two lines to what is beside the parent; not where these point apart
};

/// What the last of the siblings is taken from.
enum class Last : std::uint8_t {
  slope = 0,     ///< as the others
  plain = 1,     ///< the parent is the mean
  declared = 2,  ///< as the relation says
};

/// What a prediction by slopes is corrected by. Terms 0 to 6: what earlier siblings, by their place in the order,
/// differ from theirs. Behind them how slopes change from parent to parent: for each pair of axes (x y, x z, y z) that
/// of the second one's along the first, for each axis that of its own from below to here to above.
inline constexpr std::size_t pair_terms = 7, axis_terms = 10, correction_terms = 13;
/// Of each term and child, by its place in the order, how much, in 64ths. The last child is not corrected.
using CorrectionWeights = std::array<std::array<std::int8_t, correction_terms>, 8>;

/// f(term) for each that a child has. `curved`: there are slopes.
template <class F>
void each_correction(std::size_t step, std::size_t dimensions, bool curved, F&& f) {
  for (std::size_t other = 0; other < step; ++other) f(other);
  if (!curved) return;
  for (std::size_t pair = 0; pair < dimensions * (dimensions - 1) / 2; ++pair) f(pair_terms + pair);
  for (std::size_t axis = 0; axis < dimensions; ++axis) f(axis_terms + axis);
}

/// What of all that a stream uses. Stored in it.
struct PredictionPlan {
  Slope slope = Slope::none;
  Last last = Last::slope;
  bool shared = false, divergence = false, closure = false;
  bool across = false;     ///< faces are predicted from those of other groups too
  bool faces = false;      ///< the values are on faces; the three above but for `closure` ask for it
  bool factor = false;     ///< parents are multiplied by their factor
  bool corrected = false;  ///< predictions by slopes are, by `weights`; not with `closure`, `faces`, or one dimension
  CorrectionWeights weights{};
  [[nodiscard]] std::uint16_t bits() const noexcept;
  /// Throws Error(file) if no plan has these bits.
  static PredictionPlan of(std::uint16_t bits);
};

/// The best that the relations allow, before it is tried.
[[nodiscard]] PredictionPlan full_plan(const TreeChunk& chunk, const Relations& relations);
/// Without any.
[[nodiscard]] PredictionPlan plain_plan(const TreeChunk& chunk);

/// Throws Error(file) if the plan needs relations that are not declared.
void check_plan(const PredictionPlan& plan, const Relations& relations);

/// Of these relations: bit n is set if companion n is read under this plan.
[[nodiscard]] std::uint32_t companions_of(const PredictionPlan& plan, const Relations& relations);

/// What a value was predicted from: differences of each kind are of their own size.
enum class Source : std::uint8_t { slope = 0, mean = 1, shared = 2, divergence = 3, closure = 4 };
inline constexpr std::size_t sources = 5;

/// Whether it is read what lies beside the parents.
[[nodiscard]] bool needs_beside(const PredictionPlan& plan) noexcept;

class GroupOrder;

/// Of each group of a chunk the slopes around its parent and `change`, four numbers; what they change by from one
/// parent to the next is looked at under `corrected`.
struct ParentSlopes {
  std::unique_ptr<double[]> values;
  /// And the group whose parent lies beside its own, or the group itself: for each side a row of all groups.
  std::unique_ptr<std::int32_t[]> beside;
};

/// Goes through the sibling groups of a chunk a tile at a time, and through each tile a child at a time. All arithmetic
/// is in double, in the order written, so that decoders find the same bits.
class Predictor {
 public:
  /// A number for each group of a tile.
  using Row = std::array<double, tile_groups>;
  /// A number for each cell of a tile, in the order of the cells.
  using Cells = std::array<double, 8 * tile_groups>;

  /// `own`: where the values are, those that are known by now; `finder`: of the chunk, if there is one. Throws
  /// Error(usage) if the chunk lacks what the plan needs.
  Predictor(const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan, BytesView own,
            const GroupFinder* finder = nullptr);
  /// Groups come in another order, and what it has found out is taken from it: the companions are not looked at.
  void use(const GroupOrder& group_order) noexcept;
  /// For a plan that is `corrected` and has slopes: made by find_slopes() of a Predictor with the same chunk and
  /// slopes. Without it they are found at the beginning.
  void use(const ParentSlopes& slopes) noexcept {
    if (slopes.values) parent_slopes_ = &slopes;
  }
  [[nodiscard]] ParentSlopes find_slopes();
  /// All of `own` is known, and may be predicted from: to find out how well that does.
  void know_all() noexcept { all_known_ = true; }

  /// Begins with `count` groups (at most tile_groups) from number `first` on.
  void begin(std::size_t first, std::size_t count);
  [[nodiscard]] std::size_t steps() const noexcept { return children_; }
  /// Which child the step is for.
  [[nodiscard]] std::size_t child(std::size_t step) const noexcept { return order_[step]; }
  /// Steps are taken from 0 on, and after each `known` is called with the values.
  void predict(std::size_t step);
  [[nodiscard]] const Row& predicted() const noexcept { return predicted_; }
  [[nodiscard]] const std::array<Source, tile_groups>& from() const noexcept { return from_; }
  /// Whether all of the tile have the source of the first.
  [[nodiscard]] bool uniform() const noexcept { return uniform_; }
  /// Of the groups of the tile what lies where in the chunk.
  [[nodiscard]] std::size_t group(std::size_t g) const noexcept {
    return sequence_ == nullptr ? first_ + g : sequence_[first_ + g];
  }
  /// Null: groups lie one behind the other. Else the numbers of those of the tile.
  [[nodiscard]] const std::uint32_t* groups() const noexcept {
    return sequence_ == nullptr ? nullptr : sequence_ + first_;
  }
  /// Of each group how much the parents around it differ, which differences from predictions by slopes grow with; null
  /// where that is not known.
  [[nodiscard]] const double* change() const noexcept {
    return plan_.slope == Slope::none || !by_parents_ ? nullptr : change_.data();
  }
  /// Values of the parents, where there is a change.
  [[nodiscard]] const double* parents() const noexcept { return parent_.data(); }
  void known(std::size_t step, const Row& values);
  /// Of each group a term that its children are corrected by.
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
  /// Of the cells of the tile.
  [[nodiscard]] const double* cells_of(int companion) const noexcept {
    return near_[static_cast<std::size_t>(companion)];
  }
  void read_parent_cells(int companion, Row& out) const;
  void add_terms(const std::vector<RelationTerm>& terms, Cells& out) const;
  void add_parent_terms(const std::vector<RelationTerm>& terms, Row& out);
  void by_neighbour(std::size_t child);
  /// Of each group the cell beside this child, across the face; -1: none that is known.
  void cells_across(std::size_t child, std::array<Index, tile_groups>& cells) const noexcept;
  /// `other` where a group has a neighbour across.
  void take_across(Source source, const Row& other) noexcept;
  /// Of each group the one beside it across the variable's face, in the chunk; -1: none.
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
  std::size_t members_ = 0;                         ///< the first of the order, which have the parent as their mean
  std::array<std::array<double, 3>, 8> offsets_{};  ///< of each child from its parent, in lengths of the parent
  GroupFinder own_finder_;
  const GroupFinder* finder_;
  std::uint32_t needed_ = 0;              ///< companions that are read, a bit each
  std::array<const double*, 32> near_{};  ///< of those
  // None of these is written before it is needed: plans are tried on tiles that are smaller than all this.
  std::unique_ptr<Cells[]> copies_;     ///< for those that do not lie as double
  std::unique_ptr<Row[]> parent_rows_;  ///< of the companions that are read, their parents

  std::size_t first_ = 0, count_ = 0;
  bool uniform_ = true;
  bool by_parents_ = true;   ///< something in the tile is predicted by slopes, or as the last of a mean
  bool all_across_ = false;  ///< every group has one beside it, across the variable's face, that is known
  bool none_across_ = true;  ///< none has
  std::array<Index, tile_groups> parent_at_, across_;
  std::array<std::array<Index, tile_groups>, 6> beside_at_;
  Row parent_, goal_, sum_, predicted_, change_;  ///< goal: what the sum is to become
  std::array<Row, 3> slopes_;
  std::array<Row, 8> values_;           ///< of the children known so far, under a divergence
  std::array<Row, 8> slope_predicted_;  ///< if it is corrected, of each step, before that
  std::array<Row, correction_terms> terms_;
  const ParentSlopes* parent_slopes_ = nullptr;
  ParentSlopes own_slopes_{};
  Cells cells_;                                ///< while they lie as cells do
  std::array<Row, 8> weight_, offset_, flux_;  ///< of each child: of the quantity whose mean is declared, of a closure,
                                               ///< which is all offset; see face_fluxes.hpp
  std::array<Source, tile_groups> from_{};
};

}  // namespace sidestream::trees
