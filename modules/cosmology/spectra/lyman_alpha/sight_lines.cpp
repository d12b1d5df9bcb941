// Lines of sight along one axis of a server's pencil.
//
// 1. measure: reads density, temperature and velocity in batches of lines, and computes optical depths (OpticalDepth).
//    If the field is transformed afterwards, depths lie in the rows of the transform, so that one array serves both.
// 2. means: exact sums of depth, flux and slope for a factor; servers add them, and the caller finds the next factor.
// 3. products: for the final factor also counts of flux, spectra of lines, and the transform of the field.
#include "cosmology/spectra/lyman_alpha/sight_lines.hpp"

namespace sidestream::lyman_alpha {

using spectra::ComplexLines;
using spectra::LineBatch;

Words LineSums::words() const {
  Words words{points};
  for (const ExactSum* sum : {&depth, &flux, &slope}) {
    const auto form = sum->serialise();
    words.insert(words.end(), form.begin(), form.end());
  }
  words.insert(words.end(), counts.begin(), counts.end());
  words.insert(words.end(), spectrum.begin(), spectrum.end());
  return words;
}

void LineSums::add(const Words& words) {
  const std::size_t fixed = 1 + 3 * ExactSum::words;
  if (words.size() != fixed + counts.size() + spectrum.size()) {
    fail(Code::internal, "sums of lines of sight have {} words instead of {}", words.size(),
         fixed + counts.size() + spectrum.size());
  }
  points += words[0];
  std::span<const std::int64_t> rest = std::span(words).subspan(1);
  for (ExactSum* sum : {&depth, &flux, &slope}) {
    sum->add(ExactSum::deserialise(rest.first<ExactSum::words>()));
    rest = rest.subspan(ExactSum::words);
  }
  for (std::size_t n = 0; n < counts.size(); ++n) counts[n] += rest[n];
  for (std::size_t n = 0; n < spectrum.size(); ++n) spectrum[n] += rest[counts.size() + n];
}

SightLines::SightLines(const Query& query, int axis, const Metadata& metadata)
    : query_(query),
      axis_(axis),
      length_(query.setup.box.points[static_cast<std::size_t>(axis)]),
      origin_(metadata.mesh_of(query.hydrogen).cells.lo),
      bins_(0, 1, query.flux_bins),
      flux_(static_cast<std::size_t>(length_)) {}

spectra::FieldSetup SightLines::setup() const {
  spectra::FieldSetup setup = query_.setup;
  setup.order = spectra::order_from(axis_);
  return setup;
}

void SightLines::forget() noexcept {
  std::vector<double>().swap(depths_);
  std::vector<double*>().swap(starts_);
  transformed_ = {};
}

/// Allocates memory for each line's depths. If the field is to be transformed, depths lie in the rows of the transform,
/// so that the field is in memory only once.
void SightLines::allocate_depths(const BlockView& piece) {
  forget();
  if (query_.field_spectrum_file.empty()) {
    depths_.resize(static_cast<std::size_t>(piece.block.cells.count()));
    for (std::size_t at = 0; at < depths_.size(); at += static_cast<std::size_t>(length_)) {
      starts_.push_back(depths_.data() + at);
    }
    return;
  }
  if (!transform_) {
    transform_.emplace(setup());
    transform_->set_origin(origin_);
  }
  transformed_ = transform_->begin(piece.block.cells);
  spectra::for_each_batch(piece, axis_, ComplexLines::together, [&](const LineBatch& batch) {
    for (Index l = 0; l < batch.lines; ++l) {
      starts_.push_back(reinterpret_cast<double*>(transform_->row_of(transformed_.array, batch, l)));
    }
  });
}

void SightLines::measure(std::span<const BlockView* const> fields, const Cosmology& cosmology) {
  const double side = query_.setup.box.lengths[static_cast<std::size_t>(axis_)] * query_.length_unit;
  OpticalDepth depth(length_, side, cosmology);
  allocate_depths(*fields[0]);
  auto start = starts_.begin();
  const std::array<double, 3> units{query_.density_unit, query_.temperature_unit, query_.velocity_unit};
  const std::array<int, 3> components{0, 0, query_.velocity_component(axis_)};
  std::array<std::vector<double>, 3> lines;
  for (auto& some : lines) some.resize(static_cast<std::size_t>(length_ * ComplexLines::together));
  spectra::for_each_batch(*fields[0], axis_, ComplexLines::together, [&](const LineBatch& batch) {
    for (std::size_t f = 0; f < fields.size(); ++f) {
      spectra::read_lines(fields[f]->array, components[f], axis_, length_, batch, lines[f].data(), length_);
      if (units[f] == 1) continue;
      for (double& value : lines[f]) value *= units[f];
    }
    for (Index l = 0; l < batch.lines; ++l) {
      const Index at = l * length_;
      depth.run(lines[0].data() + at, lines[1].data() + at, fields.size() > 2 ? lines[2].data() + at : nullptr,
                *start++);
    }
  });
}

ChosenLines SightLines::chosen(const LineGrid& grid, const BlockView& piece) const {
  ChosenLines lines;
  const Box& cells = piece.block.cells;
  const std::array<int, 2> across{grid.fast, grid.slow};
  for (std::size_t a = 0; a < 2; ++a) {
    const auto axis = static_cast<std::size_t>(across[a]);
    lines.low[a] = grid.from(across[a], cells.lo[axis]);
    lines.high[a] = grid.from(across[a], cells.hi[axis]);
  }
  const Index width = lines.high[0] - lines.low[0];
  lines.depths.resize(static_cast<std::size_t>(width * (lines.high[1] - lines.low[1]) * length_));
  auto start = starts_.begin();
  spectra::for_each_batch(piece, axis_, ComplexLines::together, [&](const LineBatch& batch) {
    Index3 at = batch.first;
    for (Index l = 0; l < batch.lines; ++l, ++start, ++at[static_cast<std::size_t>(batch.across)]) {
      const Index fast = at[static_cast<std::size_t>(grid.fast)], slow = at[static_cast<std::size_t>(grid.slow)];
      if (!grid.chosen(grid.fast, fast) || !grid.chosen(grid.slow, slow)) continue;
      const Index row = grid.from(grid.slow, slow) - lines.low[1], line = grid.from(grid.fast, fast) - lines.low[0];
      std::copy_n(*start, length_, lines.depths.data() + (row * width + line) * length_);
    }
  });
  return lines;
}

LineSums SightLines::nothing() const {
  LineSums sums;
  if (!query_.pdf_file.empty()) sums.counts.assign(static_cast<std::size_t>(query_.flux_bins) + 3, 0);
  if (!query_.spectrum_file.empty()) sums.spectrum = spectra::SpectrumSums(line_bins()).words();
  return sums;
}

void SightLines::add_line(const double* depth, double factor, LineSums& sums, spectra::LineSpectrum* spectrum) {
  transmit(depth, factor, length_, flux_.data());
  double of_depth = 0, of_flux = 0, of_slope = 0;
  for (Index n = 0; n < length_; ++n) {
    const double flux = flux_[static_cast<std::size_t>(n)];
    of_depth += depth[n];
    of_flux += flux;
    of_slope += depth[n] * flux;
  }
  sums.points += length_;
  sums.depth.add(of_depth);
  sums.flux.add(of_flux);
  sums.slope.add(of_slope);
  if (!sums.counts.empty()) {
    for (const double flux : flux_) ++sums.counts[bins_.slot(flux)];
  }
  if (spectrum != nullptr) spectrum->add(flux_.data());
}

LineSums SightLines::means(double factor) {
  LineSums sums;
  for (const double* depth : starts_) add_line(depth, factor, sums, nullptr);
  return sums;
}

LineSums SightLines::products(double factor, const BlockView* piece, spectra::TransformedPart* part) {
  LineSums sums = nothing();
  std::optional<spectra::LineSpectrum> spectrum;
  if (!query_.spectrum_file.empty()) spectrum.emplace(box(), line_bins(), false, query_.setup.rigour);
  spectra::LineSpectrum* const of_lines = spectrum ? &*spectrum : nullptr;
  if (part != nullptr) {
    auto start = starts_.begin();
    *part = transform_->run(std::move(transformed_), *piece, [&](const LineBatch& batch, double* out, Index row) {
      for (Index l = 0; l < batch.lines; ++l) {
        add_line(*start++, factor, sums, of_lines);
        std::copy_n(flux_.data(), length_, out + l * row);
      }
    });
    forget();
  } else {
    for (const double* depth : starts_) add_line(depth, factor, sums, of_lines);
  }
  if (spectrum) sums.spectrum = spectrum->sums().words();
  return sums;
}

}  // namespace sidestream::lyman_alpha
