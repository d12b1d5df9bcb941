// Power spectrum of a distributed field by one-dimensional transforms and pencil exchanges.
//
// 1. `local` transforms the lines of its piece along the first axis (real to complex, half of the modes), and along the
//    second if the piece is whole there (FirstTransform).
// 2. `combine` exchanges the parts into pencils along the second axis, unless it is done, transforms them, and
//    exchanges again into pencils along the third axis (pencils.cpp).
// 3. LastAxis transforms these lines in small batches and adds the squared moduli, or products of two fields, to the
//    bins of wave numbers, without storing the result. Modes of the missing half count twice.
// Sums are exact, so that they do not depend on the division of the field (spectrum_sums.cpp).
#include "cosmology/spectra/field_spectrum.hpp"

#include <algorithm>
#include <cstring>

#include "cosmology/spectra/line_transform.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::spectra {
namespace {

struct PartHeader {
  std::int64_t second_done = 0;
  Box box{};
};

Index3 halved(const FieldSetup& setup) { return {setup.points(0) / 2 + 1, setup.points(1), setup.points(2)}; }

/// Signed mode number of `index` among `points`.
Index signed_mode(Index index, Index points) { return 2 * index <= points ? index : index - points; }

/// The last axis: transforms lines and adds up their modes without storing them.
class LastAxis {
 public:
  LastAxis(const FieldSetup& setup, SpectrumSums& sums, bool pair)
      : setup_(setup), sums_(sums), pair_(pair), points_(setup.points(2)) {
    lines_.emplace_back(points_, setup.rigour);
    if (pair) lines_.emplace_back(points_, setup.rigour);
    products_.resize(static_cast<std::size_t>(points_));
    for (std::vector<double>* row : {&first_, &second_, &cross_})
      row->resize(static_cast<std::size_t>(points_ / 2 + 1));
    const double ratio = setup.box.ratio(setup.order[2]);
    for (Index n = 0; n <= points_ / 2; ++n) {
      const double k = ratio * static_cast<double>(n);
      squares_.push_back(k * k);
    }
    for (Index n = 0; n <= points_ / 2; ++n) factors_.push_back(setup.window.factor(n, points_));
  }

  void add(PencilArray& first, PencilArray* second) {
    const Box& box = first.box();
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; i += ComplexLines::together) {
        const Index some = std::min(ComplexLines::together, box.hi[0] - i);
        transform(first, i, j, some, lines_[0]);
        if (pair_) transform(*second, i, j, some, lines_[1]);
        for (Index l = 0; l < some; ++l) add_line(i + l, j, l);
      }
    }
  }

 private:
  void transform(PencilArray& from, Index i, Index j, Index some, ComplexLines& lines) {
    const Index row = lines.row();
    for (Index n = 0; n < points_; ++n) {
      const Complex* at = from.line(j, n) + (i - from.box().lo[0]);
      // Prefetches the next lines in this plane, which the processor cannot predict.
      for (const Index ahead : {0, 4, 7}) __builtin_prefetch(at + ComplexLines::together + ahead);
      copy_column(at, 1, some, lines.lines() + n, row);
    }
    lines.transform(some);
  }

  void add_line(Index i, Index j, Index l) {
    const Index points = setup_.points(0), mode = signed_mode(j, setup_.points(1));
    const double ki = setup_.box.ratio(setup_.order[0]) * static_cast<double>(i);
    const double kj = setup_.box.ratio(setup_.order[1]) * static_cast<double>(mode);
    SpectrumSums::Line line;
    line.offset = ki * ki + kj * kj;
    line.weight = i == 0 || 2 * i == points ? 1 : 2;
    line.points = points_;
    line.squares = &squares_;
    const Complex* x = lines_[0].results() + l * lines_[0].row();
    const Complex* y = pair_ ? lines_[1].results() + l * lines_[1].row() : x;
    mode_products(x, x, points_, products_.data(), first_.data());
    scale(first_, i, mode);
    line.first = first_;
    if (pair_) {
      mode_products(y, y, points_, products_.data(), second_.data());
      mode_products(x, y, points_, products_.data(), cross_.data());
      scale(second_, i, mode);
      scale(cross_, i, mode);
      line.second = second_;
      line.cross = cross_;
    }
    sums_.add(line);
  }

  /// Divides by the window.
  void scale(std::vector<double>& values, Index i, Index j) const {
    if (setup_.window.power == 0) return;
    const double outer =
        setup_.window.factor(i, setup_.points(0)) * setup_.window.factor(std::abs(j), setup_.points(1));
    for (std::size_t n = 0; n < values.size(); ++n) values[n] *= outer * factors_[n];
  }

  const FieldSetup& setup_;
  SpectrumSums& sums_;
  bool pair_;
  Index points_;
  std::vector<ComplexLines> lines_;
  std::vector<double> squares_, factors_, products_, first_, second_, cross_;
};

/// Exchanges a field's parts into lines along the third axis.
PencilArray last_lines(std::vector<TransformedPart> parts, bool second_done, const PencilLayout& layout,
                       ComplexLines& second, Communicator& servers) {
  std::vector<PencilArray> arrays;
  for (TransformedPart& part : parts) arrays.push_back(std::move(part.array));
  if (!second_done) {
    PencilArray array = redistribute(std::move(arrays), layout, 1, servers);
    transform_second(array, second);
    arrays.clear();
    if (!array.box().empty()) arrays.push_back(std::move(array));
  }
  return redistribute(std::move(arrays), layout, 2, servers);
}

}  // namespace

Bytes TransformedPart::bytes() const {
  const PartHeader header{second_done ? 1 : 0, array.box()};
  ByteWriter out;
  out.put(header);
  for (Index third = array.box().lo[2]; third < array.box().hi[2]; ++third) {
    out.put_all(std::span(array.plane(third), array.plane_values()));
  }
  return out.take();
}

TransformedPart TransformedPart::from(BytesView bytes) {
  if (bytes.size() < sizeof(PartHeader)) fail(Code::system, "a transformed part has {} bytes", bytes.size());
  const auto header = record_of<PartHeader>(bytes.first(sizeof(PartHeader)));
  TransformedPart part{header.second_done != 0, PencilArray(header.box)};
  const std::byte* at = bytes.data() + sizeof header;
  const std::size_t plane = part.array.plane_values() * sizeof(Complex);
  for (Index third = header.box.lo[2]; third < header.box.hi[2]; ++third, at += plane) {
    std::memcpy(static_cast<void*>(part.array.line(header.box.lo[1], third)), at, plane);
  }
  return part;
}

FirstTransform::FirstTransform(const FieldSetup& setup)
    : setup_(setup),
      line_(setup.points(0), setup.rigour),
      second_(setup.points(1), setup.rigour),
      row_((setup.points(0) + 1) / 2 * 2),  // rows begin at multiples of 16 bytes
      lines_(static_cast<std::size_t>(row_ * ComplexLines::together)) {}

void FirstTransform::set_origin(const Index3& origin) {
  for (std::size_t a = 0; a < 3; ++a) first_[a] = origin[static_cast<std::size_t>(setup_.order[a])];
}

TransformedPart FirstTransform::begin(const Box& cells) const {
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto axis = static_cast<std::size_t>(setup_.order[a]);
    box.lo[a] = cells.lo[axis] - first_[a];
    box.hi[a] = cells.hi[axis] - first_[a];
  }
  box.hi[0] = setup_.points(0) / 2 + 1;
  TransformedPart part;
  part.second_done = box.extent(1) == setup_.points(1);
  part.array = PencilArray(box);
  return part;
}

Complex* FirstTransform::row_of(PencilArray& array, const LineBatch& batch, Index l) const noexcept {
  Index3 at = batch.first;
  at[static_cast<std::size_t>(batch.across)] += l;
  return array.line(at[static_cast<std::size_t>(setup_.order[1])] - first_[1],
                    at[static_cast<std::size_t>(setup_.order[2])] - first_[2]);
}

void FirstTransform::put(PencilArray& array, const LineBatch& batch) {
  for (Index l = 0; l < batch.lines; ++l) line_.transform(lines_.data() + l * row_, row_of(array, batch, l));
}

void FirstTransform::columns(TransformedPart& part, Index plane) {
  if (!part.second_done) return;
  transform_columns(part.array.line(part.array.box().lo[1], plane), part.array.box().extent(0), second_);
}

SpectrumSums sums_of_field(std::vector<TransformedPart> first, std::vector<TransformedPart>* second,
                           const FieldSetup& setup, const Mesh& mesh, const WaveBins& bins, Communicator& servers,
                           std::optional<SpectrumSums>* modes) {
  const PencilLayout layout(halved(setup), grid_of(mesh, setup.order, setup.slabs, servers.size()));
  SpectrumSums sums(bins, second != nullptr);
  LastAxis last(setup, sums, second != nullptr);
  ComplexLines lines(setup.points(1), setup.rigour);
  // All parts of a field are divided in the same way, except on servers without any.
  std::int64_t open = 0;
  for (const TransformedPart& part : first) open |= part.second_done ? 0 : 1;
  servers.maximum({&open, 1});
  PencilArray one = last_lines(std::move(first), open == 0, layout, lines, servers), two;
  if (second != nullptr) two = last_lines(std::move(*second), open == 0, layout, lines, servers);
  if (modes != nullptr && modes->has_value()) sums.know_modes(**modes);
  last.add(one, second != nullptr ? &two : nullptr);
  if (modes != nullptr && !modes->has_value()) *modes = sums;
  sums.combine(servers);
  return sums;
}

}  // namespace sidestream::spectra
