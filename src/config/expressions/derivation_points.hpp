// The points of a derived variable: the points of one published variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/expressions/expression.hpp"
#include "data/derivation.hpp"
#include "data/mesh_space.hpp"

namespace sidestream {

/// Collects the names in an expression, and checks that all of them lie at the same points. Keeps references.
/// All functions throw Error(configuration).
class DerivationPoints {
 public:
  /// `on`: a variable at the points, if the configuration names them; otherwise null.
  DerivationPoints(const ExpressionText& text, const Metadata& metadata, const Variable* on)
      : text_(text), metadata_(metadata), on_(on != nullptr), like_(on) {}

  /// Positions are where the names stand in the text.
  void add_variable(const Variable& variable, std::size_t at);
  void add_coordinate(std::int32_t axis, std::size_t at);
  void add_deposit(std::size_t at);
  /// The mesh of the points. Null as long as they are unknown.
  [[nodiscard]] bool in_space() const {
    return like_ != nullptr && lies_in_space(metadata_, metadata_.mesh_of(*like_));
  }
  [[nodiscard]] const Mesh* mesh() const { return like_ == nullptr ? nullptr : &metadata_.mesh_of(*like_); }
  /// Makes the last checks, and sets where the steps lie.
  void place(std::vector<DerivationStep>& steps) const;

 private:
  static constexpr std::size_t nowhere = std::string::npos;

  [[nodiscard]] const Derivation& derivation_of(const DerivationStep& step) const;
  void place_deposits(std::vector<DerivationStep>& steps) const;
  void check_coordinates(const std::vector<DerivationStep>& steps) const;
  void check_nodes(const std::vector<DerivationStep>& steps) const;

  const ExpressionText& text_;
  const Metadata& metadata_;
  bool on_;
  const Variable* like_;                 ///< a variable at the points; null as long as they are unknown
  std::size_t coordinate_at_ = nowhere;  ///< position of the first coordinate
  std::size_t deposit_at_ = nowhere;     ///< position of the first deposit
  std::int32_t axes_ = 0;                ///< the highest axis whose coordinate is used
};

}  // namespace sidestream
