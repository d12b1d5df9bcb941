// Sums over the cells in the shells round a halo.
#pragma once

#include <cstdint>
#include <vector>

#include "base/records.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream::halos {

/// Shell 0 is what lies below the first edge, shell n what lies between edges n - 1 and n. Exact, so that they do not
/// depend on the order.
class ShellSums {
 public:
  ShellSums(std::size_t shells, std::size_t fields)
      : fields_(fields), shells_(shells + 1), sums_(shells_.size() * fields) {}

  void add(std::size_t shell, double density) noexcept {
    ++shells_[shell].cells;
    shells_[shell].mass.add(density);
    any_ = true;
  }
  /// The same of a cell of some volume, in units of which the mass is then.
  void add(std::size_t shell, double density, double volume) noexcept {
    ++shells_[shell].cells;
    shells_[shell].mass.add_product(density, volume);
    shells_[shell].volume.add(volume);
    any_ = true;
  }
  /// A value of a field in a cell, and its mass: not where it or the mass is infinite or no number.
  void add_field(std::size_t shell, std::size_t field, double mass, double value) noexcept {
    FieldSum& sum = sums_[shell * fields_ + field];
    sum.weights.add(mass);
    sum.products.add_product(mass, value);
  }

  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::int64_t cells(std::size_t shell) const noexcept { return shells_[shell].cells; }
  [[nodiscard]] const ExactSum& mass(std::size_t shell) const noexcept { return shells_[shell].mass; }
  /// Of cells that were added with one.
  [[nodiscard]] const ExactSum& volume(std::size_t shell) const noexcept { return shells_[shell].volume; }
  /// Weighted with the mass; NaN where there is none.
  [[nodiscard]] double mean(std::size_t shell, std::size_t field) const noexcept;

  void write(ByteWriter& out) const;
  /// Adds what `write` wrote.
  void read(ByteReader& in);
  void clear() noexcept;

 private:
  struct Shell {
    std::int64_t cells = 0;
    ExactSum mass, volume;
  };
  struct FieldSum {
    ExactSum weights, products;
  };

  std::size_t fields_;
  std::vector<Shell> shells_;
  std::vector<FieldSum> sums_;
  bool any_ = false;
};

}  // namespace sidestream::halos
