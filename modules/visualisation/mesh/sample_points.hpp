// The positions of wanted values on a mesh.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace sidestream::sampling {

using Place = std::array<double, 3>;

/// Numbered positions in a space of one to three dimensions; further coordinates of positions and regions are ignored.
class SamplePoints {
 public:
  virtual ~SamplePoints() = default;
  [[nodiscard]] virtual int dimensions() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t count() const noexcept = 0;
  [[nodiscard]] virtual Place at(std::int64_t target) const = 0;
  /// Calls `f(target)` for each position with low <= position <= high on all axes, in no particular order. NaN bounds
  /// contain no position.
  virtual void within(const Place& low, const Place& high, const std::function<void(std::int64_t)>& f) const = 0;
  /// True if there is one.
  [[nodiscard]] bool any_within(const Place& low, const Place& high) const;
};

/// Arbitrary positions.
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
  std::size_t axis_ = 0;             ///< along which they are spread most widely
  std::vector<std::int64_t> order_;  ///< in ascending order along it
  std::vector<double> sorted_;       ///< their coordinates, in that order
};

/// The points of a grid: every combination of positions on its axes, which are ascending. The numbers of points run
/// fastest along the first axis.
class GridPoints final : public SamplePoints {
 public:
  /// Takes one to three axes.
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
