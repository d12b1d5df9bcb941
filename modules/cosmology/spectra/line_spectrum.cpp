#include "cosmology/spectra/line_spectrum.hpp"

#include <algorithm>
#include <optional>

#include "cosmology/spectra/power_spectrum.hpp"

namespace sidestream::spectra {

WaveBox line_box(const WaveBox& box, int axis) {
  WaveBox line;
  line.points[0] = box.points[static_cast<std::size_t>(axis)];
  line.lengths[0] = box.lengths[static_cast<std::size_t>(axis)];
  return line;
}

LineSpectrum::LineSpectrum(const WaveBox& line, const WaveBins& bins, bool pair, Rigour rigour)
    : line_(line.points[0], rigour), sums_(bins, pair) {
  for (Index n = 0; n <= line.points[0] / 2; ++n) squares_.push_back(static_cast<double>(n) * static_cast<double>(n));
  first_.resize(squares_.size());
  if (pair) {
    second_.resize(squares_.size());
    cross_.resize(squares_.size());
  }
}

void LineSpectrum::add(const double* first, const double* second) {
  const Index points = line_.size();
  const auto transform = [&](const double* values) {
    std::copy_n(values, points, line_.input());
    return line_.transform();
  };
  const auto fold = [&](const Complex* x, const Complex* y, std::vector<double>& out) {
    for (std::size_t n = 0; n < out.size(); ++n) {
      const bool alone = n == 0 || 2 * static_cast<Index>(n) == points;
      out[n] = (alone ? 1 : 2) * (x[n].real() * y[n].real() + x[n].imag() * y[n].imag());
    }
  };
  const Complex* x = transform(first);
  fold(x, x, first_);
  if (second != nullptr) {
    kept_.assign(x, x + squares_.size());
    const Complex* y = transform(second);
    fold(y, y, second_);
    fold(kept_.data(), y, cross_);
  }
  sums_.add({0, 1, points, &squares_, first_, second_, cross_});
}

namespace {

class LinesTask final : public Task {
 public:
  LinesTask(const SpectrumQuery& query, const Metadata& metadata) : query_(query) {
    const auto& variable = metadata.variables.at(static_cast<std::size_t>(query.fields[0].variable));
    box_ = wave_box(metadata.mesh_of(variable));
    for (const int axis : query.along) {
      std::vector<FieldMeans::Field> fields = query.fields;
      for (FieldMeans::Field& field : fields) field.entry += entries_.size();
      entries_.insert(entries_.end(), fields.begin(), fields.end());
      means_.emplace_back(fields, axis);
    }
  }

  Selection selection() const override {
    Selection selection;
    for (std::size_t n = 0; n < entries_.size(); ++n) {
      const int axis = query_.along[n / query_.fields.size()];
      selection.variables.push_back(Selected(entries_[n].variable, 0, AllBlocks{}, Decomposition::pencils(axis)));
    }
    selection.geometry = false;
    return selection;
  }
  double tolerance() const override { return tolerance_of(query_.setup.rigour); }
  int passes() const override { return 2; }

  Bytes local(const LocalInput& input) override {
    // Sums along different axes round differently, so the sums along the first axis are used for all.
    if (input.pass == 0) return means_[0].local(input);
    const FieldMeans::Found found = means_[0].found(input.feedback, input.metadata);
    if (found.points == 0) return {};
    require_means(query_, found, input.metadata);
    Words all;
    for (std::size_t a = 0; a < query_.along.size(); ++a) {
      const Words words = sums(input, a, found.means);
      all.insert(all.end(), words.begin(), words.end());
    }
    return to_bytes(all);
  }

  Bytes combine(const CombineInput& input) override {
    if (input.pass == 0) return feedback_ = means_[0].combine(input);
    const FieldMeans::Found found = means_[0].found(feedback_, input.metadata);
    if (found.points == 0) return {};
    std::vector<std::vector<Column>> tables;
    std::size_t begin = 0;
    for (std::size_t a = 0; a < query_.along.size(); ++a) {
      SpectrumSums total = empty(a);
      const std::size_t size = total.words().size();
      for (const Bytes& partial : input.partials) {
        const Words words = records_of<std::int64_t>(partial);
        total.add(Words(words.begin() + static_cast<Index>(begin), words.begin() + static_cast<Index>(begin + size)));
      }
      begin += size;
      total.combine(input.communicator);
      tables.push_back(total.columns(scale(a, found.means)));
    }
    input.results.add(query_.file, table_by_axis(query_.along, tables));
    draw_spectrum(query_, input);
    return {};
  }

 private:
  [[nodiscard]] WaveBox box(std::size_t a) const { return line_box(box_, query_.along[a]); }
  [[nodiscard]] bool pair() const { return query_.fields.size() > 1; }
  [[nodiscard]] SpectrumSums empty(std::size_t a) const { return SpectrumSums(query_.bins.bins(box(a)), pair()); }
  [[nodiscard]] SpectrumSums::Scale scale(std::size_t a, const std::vector<double>& means) const {
    return scale_of(query_, box(a), means);
  }

  [[nodiscard]] Words sums(const LocalInput& input, std::size_t a, const std::vector<double>& means) const {
    const int axis = query_.along[a];
    const Index length = box(a).points[0];
    LineSpectrum spectrum(box(a), query_.bins.bins(box(a)), pair(), query_.setup.rigour);
    const std::size_t fields = query_.fields.size(), first = a * fields;
    std::array<std::vector<double>, 2> lines;
    for (auto& some : lines) some.resize(static_cast<std::size_t>(length * ComplexLines::together));
    for (const BlockView& view : input.at(first)) {
      for_each_batch(view, axis, ComplexLines::together, [&](const LineBatch& batch) {
        for (std::size_t f = 0; f < fields; ++f) {
          const ArrayView& array = input.at(first + f).at(0).array;
          read_lines(array, query_.fields[f].component, axis, length, batch, lines[f].data(), length, means[f]);
        }
        for (Index l = 0; l < batch.lines; ++l) {
          spectrum.add(lines[0].data() + l * length, pair() ? lines[1].data() + l * length : nullptr);
        }
      });
    }
    return spectrum.sums().words();
  }

  SpectrumQuery query_;
  WaveBox box_;
  std::vector<FieldMeans::Field> entries_;  ///< entries of the selection: for each axis one for each field
  std::vector<FieldMeans> means_;           ///< by axis
  Bytes feedback_;
};

}  // namespace

std::unique_ptr<Task> make_line_spectrum(const SpectrumQuery& query, const Metadata& metadata) {
  return std::make_unique<LinesTask>(query, metadata);
}

}  // namespace sidestream::spectra
