// Sums over the cells in the shells around a halo.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::halos {

/// Exact sums, so that the order of cells does not matter. Shell 0 lies below the first edge, shell n between edges n -
/// 1 and n.
class ShellSums {
 public:
  ShellSums(std::size_t shells, std::size_t fields)
      : fields_(fields), shells_(shells + 1), sums_(shells_.size() * fields) {}

  void add(std::size_t shell, double density) noexcept {
    ++shells_[shell].cells;
    shells_[shell].mass.add(density);
    any_ = true;
  }
  /// Adds a cell with a volume; the mass is then in units of density times volume.
  void add(std::size_t shell, double density, double volume) noexcept {
    ++shells_[shell].cells;
    shells_[shell].mass.add_product(density, volume);
    shells_[shell].volume.add(volume);
    any_ = true;
  }
  /// Adds a field's value in a cell with that mass; both must be finite.
  void add_field(std::size_t shell, std::size_t field, double mass, double value) noexcept {
    FieldSum& sum = sums_[shell * fields_ + field];
    sum.weights.add(mass);
    sum.products.add_product(mass, value);
  }

  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::int64_t cells(std::size_t shell) const noexcept { return shells_[shell].cells; }
  [[nodiscard]] const ExactSum& mass(std::size_t shell) const noexcept { return shells_[shell].mass; }
  /// Volume of the cells that were added with one.
  [[nodiscard]] const ExactSum& volume(std::size_t shell) const noexcept { return shells_[shell].volume; }
  /// Mean weighted by the mass; NaN without mass.
  [[nodiscard]] double mean(std::size_t shell, std::size_t field) const noexcept;

  void write(ByteWriter& out) const;
  /// Adds the sums written by `write`.
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
