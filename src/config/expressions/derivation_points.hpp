// Where the values of a derived variable lie: at the points of one published variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/expressions/expression_text.hpp"
#include "data/derivation.hpp"

namespace sidestream {

/// Collects what an expression names, and checks that all of it lies at the same points. Refers to what it is made of.
/// All functions throw Error(configuration).
class DerivationPoints {
 public:
  /// `on`: a variable at the points, if it was said where they are; otherwise null.
  DerivationPoints(const ExpressionText& text, const Metadata& metadata, const Variable* on)
      : text_(text), metadata_(metadata), on_(on != nullptr), like_(on) {}

  /// Positions are those of the names in the text.
  void add_variable(const Variable& variable, std::size_t at);
  void add_coordinate(std::int32_t axis, std::size_t at);
  void add_deposit(std::size_t at);
  /// Null as long as nothing says where the points are.
  [[nodiscard]] const Mesh* mesh() const { return like_ == nullptr ? nullptr : &metadata_.mesh_of(*like_); }
  /// The last checks, when all is known, and the places of the steps.
  void place(std::vector<DerivationStep>& steps) const;

 private:
  static constexpr std::size_t nowhere = std::string::npos;

  [[nodiscard]] const Derivation& derivation_of(const DerivationStep& step) const;
  void place_deposits(std::vector<DerivationStep>& steps) const;
  void check_coordinates(const std::vector<DerivationStep>& steps) const;

  const ExpressionText& text_;
  const Metadata& metadata_;
  bool on_;
  const Variable* like_;                 ///< says where the points are
  std::size_t coordinate_at_ = nowhere;  ///< of the first one
  std::size_t deposit_at_ = nowhere;     ///< likewise
  std::int32_t axes_ = 0;                ///< the last axis that coordinates are along
};

}  // namespace sidestream
