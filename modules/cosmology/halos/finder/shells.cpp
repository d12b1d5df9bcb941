#include "cosmology/halos/finder/shells.hpp"

#include <limits>

#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream::halos {

double ShellSums::mean(std::size_t shell, std::size_t field) const noexcept {
  const FieldSum& sum = sums_[shell * fields_ + field];
  const double weight = sum.weights.value();
  return weight != 0 ? sum.products.value() / weight : std::numeric_limits<double>::quiet_NaN();
}

void ShellSums::write(ByteWriter& out) const {
  std::vector<std::uint32_t> words;
  for (std::size_t s = 0; s < shells_.size(); ++s) {
    out.put(shells_[s].cells);
    if (shells_[s].cells == 0) continue;
    words.clear();
    pack(shells_[s].mass, words);
    pack(shells_[s].volume, words);
    for (std::size_t f = 0; f < fields_; ++f) {
      pack(sums_[s * fields_ + f].weights, words);
      pack(sums_[s * fields_ + f].products, words);
    }
    out.put(words);
  }
}

void ShellSums::read(ByteReader& in) {
  std::vector<std::uint32_t> words;
  for (std::size_t s = 0; s < shells_.size(); ++s) {
    const auto cells = in.get<std::int64_t>();
    if (cells == 0) continue;
    any_ = true;
    shells_[s].cells += cells;
    in.get(words);
    std::size_t at = 0;
    const auto next = [&](ExactSum& sum) { at += add_packed(words.data() + at, words.size() - at, sum); };
    next(shells_[s].mass);
    next(shells_[s].volume);
    for (std::size_t f = 0; f < fields_; ++f) {
      next(sums_[s * fields_ + f].weights);
      next(sums_[s * fields_ + f].products);
    }
  }
}

void ShellSums::clear() noexcept {
  if (!any_) return;
  for (std::size_t s = 0; s < shells_.size(); ++s) {
    if (shells_[s].cells == 0) continue;
    shells_[s] = {};
    for (std::size_t f = 0; f < fields_; ++f) sums_[s * fields_ + f] = {};
  }
  any_ = false;
}

}  // namespace sidestream::halos
