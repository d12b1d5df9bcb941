// Sums of modes by bins of wave numbers.
//
// Along a line of modes, k^2 = offset + squares ascends, so each bin is one range of the line. The sum of a range is
// taken in the order of the line, and added to the bin's sum exactly, first in a fast accumulator (WindowSum). So
// totals do not depend on which server has which lines.
#include "cosmology/spectra/spectrum_sums.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "cosmology/spectra/line_transform.hpp"

namespace sidestream::spectra {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Gives NaN a fixed sign, since the sign of 0 / 0 depends on the machine.
double plain(double x) noexcept { return std::isnan(x) ? none : x; }

/// Number of modes n and -n with `from` <= n < `to`; 0 and points / 2 are their own opposites.
std::int64_t modes_between(std::size_t from, std::size_t to, Index points) {
  auto modes = static_cast<std::int64_t>(2 * (to - from));
  if (from == 0) --modes;
  if (points > 1 && points % 2 == 0 && to == static_cast<std::size_t>(points / 2 + 1)) --modes;
  return modes;
}

}  // namespace

double Deconvolution::factor(Index n, Index points) const noexcept {
  if (power == 0 || n == 0) return 1;
  const double x = std::numbers::pi * static_cast<double>(n) / static_cast<double>(points);
  const double window = std::sin(x) / x;
  double squared = 1;
  for (int p = 0; p < power; ++p) squared *= window * window;
  return 1 / squared;
}

SpectrumSums::SpectrumSums(const WaveBins& bins, bool pair)
    : bins_(bins), pair_(pair), modes_(bins.count(), 0), sums_(bins.count() * (pair ? 5 : 3)), recent_(sums_.size()) {}

void SpectrumSums::add(const Line& line) {
  const std::vector<double>& squares = *line.squares;
  const std::size_t size = squares.size();
  for (std::vector<double>* row : {&squared_, &waves_, &moved_}) row->resize(size);
  wave_numbers(squares.data(), line.offset, static_cast<Index>(size), squared_.data(), waves_.data());
  row_products(waves_.data(), line.first.data(), static_cast<Index>(size), moved_.data());
  const double weight = line.weight;
  const double* const first = line.first.data();
  bins_.for_each_part(squared_, [&](std::size_t bin, std::size_t from, double end) {
    double p = 0, kp = 0;
    std::size_t n = from;
    do {
      p += first[n];
      kp += moved_[n];
      ++n;
    } while (n < size && squared_[n] < end);
    add_to(bin, power, weight * p);
    add_to(bin, weighted, weight * kp);
    if (pair_) add_pair(line, bin, from, n);
    if (!modes_known_) add_modes(line, bin, from, n);
    return n;
  });
}

void SpectrumSums::add_modes(const Line& line, std::size_t bin, std::size_t from, std::size_t to) {
  const auto alone = [&](std::size_t n) { return n == 0 || 2 * static_cast<Index>(n) == line.points; };
  double k = 0;
  for (std::size_t n = from; n < to; ++n) k += alone(n) ? waves_[n] : 2 * waves_[n];
  modes_[bin] += line.weight * modes_between(from, to, line.points);
  add_to(bin, wave, line.weight * k);
}

void SpectrumSums::add_pair(const Line& line, std::size_t bin, std::size_t from, std::size_t to) {
  double second = 0, cross = 0;
  for (std::size_t n = from; n < to; ++n) {
    second += line.second[n];
    cross += line.cross[n];
  }
  add_to(bin, other, line.weight * second);
  add_to(bin, product, line.weight * cross);
}

void SpectrumSums::know_modes(const SpectrumSums& of) {
  modes_known_ = true;
  modes_ = of.modes_;
  for (std::size_t bin = 0; bin < modes_.size(); ++bin) {
    const std::size_t n = bin * quantities() + wave;
    sums_[n] = of.sums_[bin * of.quantities() + wave];
    recent_[n] = of.recent_[bin * of.quantities() + wave];
  }
}

void SpectrumSums::settle() noexcept {
  for (std::size_t n = 0; n < sums_.size(); ++n) recent_[n].flush(sums_[n]);
}

Words SpectrumSums::words() {
  settle();
  Words words(modes_.begin(), modes_.end());
  words.reserve(modes_.size() + sums_.size() * ExactSum::words);
  for (const ExactSum& sum : sums_) {
    const auto form = sum.serialise();
    words.insert(words.end(), form.begin(), form.end());
  }
  return words;
}

void SpectrumSums::add(const Words& words) {
  if (words.size() != modes_.size() + sums_.size() * ExactSum::words) {
    fail(Code::internal, "sums of a spectrum have {} words instead of {}", words.size(),
         modes_.size() + sums_.size() * ExactSum::words);
  }
  for (std::size_t bin = 0; bin < modes_.size(); ++bin) modes_[bin] += words[bin];
  const std::span<const std::int64_t> forms = std::span(words).subspan(modes_.size());
  for (std::size_t n = 0; n < sums_.size(); ++n) {
    sums_[n].add(ExactSum::deserialise(forms.subspan(n * ExactSum::words).first<ExactSum::words>()));
  }
}

void SpectrumSums::combine(Communicator& servers) {
  Words all = words();
  servers.sum(all);
  std::fill(modes_.begin(), modes_.end(), 0);
  std::fill(sums_.begin(), sums_.end(), ExactSum());
  add(all);
}

std::vector<Column> SpectrumSums::columns(const Scale& scale) {
  settle();
  const std::size_t rows = bins_.count();
  Words bin(rows);
  std::vector<double> lower(rows), upper(rows), mean(rows), by_power(rows), first(rows), pure(rows), second(rows),
      cross(rows), correlation(rows);
  for (std::size_t n = 0; n < rows; ++n) {
    const auto modes = static_cast<double>(modes_[n]);
    bin[n] = static_cast<std::int64_t>(n);
    lower[n] = scale.unit * bins_.edges()[n];
    upper[n] = scale.unit * bins_.edges()[n + 1];
    mean[n] = plain(scale.unit * (value(n, wave) / modes));
    by_power[n] = plain(scale.unit * (value(n, weighted) / value(n, power)));
    first[n] = plain(value(n, power) / modes * scale.power[0] - scale.noise);
    pure[n] = plain(dimensionless(mean[n], first[n], scale.dimensions));
    if (!pair_) continue;
    second[n] = plain(value(n, other) / modes * scale.power[1] - scale.noise);
    cross[n] = plain(value(n, product) / modes * std::sqrt(scale.power[0] * scale.power[1]));
    correlation[n] = plain(cross[n] / std::sqrt(first[n] * second[n]));
  }
  std::vector<Column> columns{{"bin", bin},     {"k_lower", lower},       {"k_upper", upper},
                              {"k", mean},      {"k_weighted", by_power}, {"modes", modes_},
                              {"power", first}, {"dimensionless", pure}};
  if (pair_) {
    columns.push_back({"second", second});
    columns.push_back({"cross", cross});
    columns.push_back({"correlation", correlation});
  }
  return columns;
}

Table table_by_axis(const std::vector<int>& axes, const std::vector<std::vector<Column>>& tables) {
  std::vector<Column> all;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::size_t rows = std::get<Words>(tables[a][0].values).size();
    std::vector<Column> some = tables[a];
    some.insert(some.begin(), {"axis", std::vector<std::string>(rows, std::string(1, "xyz"[axes[a]]))});
    for (std::size_t c = 0; c < some.size(); ++c) {
      if (a == 0) {
        all.push_back(some[c]);
        continue;
      }
      const auto append = [&](auto& values) {
        const auto& more = std::get<std::decay_t<decltype(values)>>(some[c].values);
        values.insert(values.end(), more.begin(), more.end());
      };
      std::visit(append, all[c].values);
    }
  }
  return Table(std::move(all));
}

double dimensionless(double k, double power, int dimensions) noexcept {
  using std::numbers::pi;
  if (dimensions == 3) return k * k * k * power / (2 * pi * pi);
  if (dimensions == 2) return k * k * power / (2 * pi);
  return k * power / pi;
}

}  // namespace sidestream::spectra
