// The places at which values of a mesh are wanted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace sidestream::sampling {

using Place = std::array<double, 3>;

/// Numbered places in a space of one to three dimensions; of places and regions the axes beyond do not count.
class SamplePoints {
 public:
  virtual ~SamplePoints() = default;
  [[nodiscard]] virtual int dimensions() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t count() const noexcept = 0;
  [[nodiscard]] virtual Place at(std::int64_t target) const = 0;
  /// Calls `f(target)` for each place with low <= place <= high on all axes, in no particular order; NaN bounds: none.
  virtual void within(const Place& low, const Place& high, const std::function<void(std::int64_t)>& f) const = 0;
  /// Whether there is one.
  [[nodiscard]] bool any_within(const Place& low, const Place& high) const;
};

/// Any places.
class ScatteredPoints final : public SamplePoints {
 public:
  ScatteredPoints(int dimensions, std::vector<Place> places);
  [[nodiscard]] int dimensions() const noexcept override { return dimensions_; }
  [[nodiscard]] std::int64_t count() const noexcept override { return static_cast<std::int64_t>(places_.size()); }
  [[nodiscard]] Place at(std::int64_t target) const override { return places_[static_cast<std::size_t>(target)]; }
  void within(const Place& low, const Place& high, const std::function<void(std::int64_t)>& f) const override;

 private:
  int dimensions_;
  std::vector<Place> places_;
  std::size_t axis_ = 0;             ///< along which they lie farthest apart
  std::vector<std::int64_t> order_;  ///< ascending along it
  std::vector<double> sorted_;       ///< where, in that order
};

/// The places of a grid: every combination of positions on its axes, each ascending. Numbered with the first axis
/// fastest.
class GridPoints final : public SamplePoints {
 public:
  /// One to three axes.
  explicit GridPoints(std::vector<std::vector<double>> positions) : positions_(std::move(positions)) {}
  [[nodiscard]] int dimensions() const noexcept override { return static_cast<int>(positions_.size()); }
  [[nodiscard]] std::int64_t count() const noexcept override;
  [[nodiscard]] Place at(std::int64_t target) const override;
  void within(const Place& low, const Place& high, const std::function<void(std::int64_t)>& f) const override;
  [[nodiscard]] const std::vector<double>& positions(int axis) const {
    return positions_[static_cast<std::size_t>(axis)];
  }

 private:
  std::vector<std::vector<double>> positions_;
};

}  // namespace sidestream::sampling
