// A universe at one time, and its evolution.
#pragma once

#include "gravity.hpp"

namespace universe {

class State {
 public:
  /// Collective. Starts from the beginning.
  State(const Layout& layout, const Options& options);
  /// Collective. Continues with particles, at any positions, in their state after `step`.
  State(const Layout& layout, const Options& options, Particles particles, std::int64_t step);

  /// Collective: makes one step: kick, drift and kick.
  void advance();
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] double scale_factor() const { return scale_factor_at(static_cast<double>(step_)); }
  [[nodiscard]] double redshift() const { return 1 / scale_factor() - 1; }
  [[nodiscard]] const Particles& particles() const { return particles_; }
  /// Matter in units of its mean, in this rank's cells.
  [[nodiscard]] const Field& density() const { return density_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Gravity& gravity() const { return gravity_; }

 private:
  void look();
  [[nodiscard]] double scale_factor_at(double step) const;

  const Layout& layout_;
  const Options& options_;
  Gravity gravity_;
  Particles particles_;
  std::int64_t step_ = 0;
  Field density_;
  Accelerations accelerations_;  ///< by gravity of that density
};

}  // namespace universe
