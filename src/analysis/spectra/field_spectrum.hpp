// The spectrum of a whole field: lines along the first axis are transformed where they are, the others between
// exchanges.
#pragma once

#include <optional>

#include "analysis/spectra/pencils.hpp"
#include "analysis/spectra/piece_lines.hpp"
#include "analysis/spectra/spectrum_sums.hpp"

namespace sidestream::spectra {

/// What is transformed how.
struct FieldSetup {
  WaveBox box{};  ///< in the mesh's axes
  AxisOrder order{0, 1, 2};
  bool slabs = false;
  Rigour rigour = Rigour::estimate;
  Deconvolution window{};

  [[nodiscard]] Index points(int step) const { return box.points[static_cast<std::size_t>(order[step])]; }
};

/// A server's part of a field after its first axes, as it goes from `local` to `combine`.
struct TransformedPart {
  bool second_done = false;  ///< the second axis was whole, and is transformed
  PencilArray array{};

  [[nodiscard]] Bytes bytes() const;
  /// Throws Error(system) if the bytes are something else.
  [[nodiscard]] static TransformedPart from(BytesView bytes);
};

/// Transforms along the first axis, and along the second where the piece has all of it. Plans are kept.
class FirstTransform {
 public:
  explicit FirstTransform(const FieldSetup& setup);
  /// `piece` is of the setup's decomposition; read(batch, out, row) puts the numbers of a batch's lines, along the
  /// first axis, at out + l * row for line l.
  template <class Read>
  [[nodiscard]] TransformedPart run(const BlockView& piece, Read&& read) {
    return run(begin(piece.block.cells), piece, read);
  }
  /// The same into what `begin` gave: a line's numbers may be in its row until it is read.
  template <class Read>
  [[nodiscard]] TransformedPart run(TransformedPart part, const BlockView& piece, Read&& read) {
    Index plane = part.array.box().lo[2];
    const int third = setup_.order[2];
    for_each_batch(piece, setup_.order[0], ComplexLines::together, [&](const LineBatch& batch) {
      const Index here = batch.first[static_cast<std::size_t>(third)] - first_[2];
      // A plane that is complete is still in the cache.
      if (batch.across != third && here != plane) columns(part, plane++);
      read(batch, lines_.data(), row_);
      put(part.array, batch);
    });
    while (plane < part.array.box().hi[2]) columns(part, plane++);
    return part;
  }
  /// Room for what becomes of a piece that has those cells.
  [[nodiscard]] TransformedPart begin(const Box& cells) const;
  /// The row of line l of a batch: room for two real numbers more than the line has, or one if it has an odd number.
  [[nodiscard]] Complex* row_of(PencilArray& array, const LineBatch& batch, Index l) const noexcept;

  /// Where the mesh begins, in its own axes; pieces are counted from there.
  void set_origin(const Index3& origin);

 private:
  void put(PencilArray& array, const LineBatch& batch);
  void columns(TransformedPart& part, Index plane);

  FieldSetup setup_;
  RealLine line_;
  ComplexLines second_;
  Index row_;
  Index3 first_{};                                            ///< of the mesh, in the order of the transform
  std::shared_ptr<LargeRooms> rooms_ = LargeRooms::common();  ///< kept between iterations
  std::vector<double> lines_;
};

/// Collective: the sums of modes of a field, of `second` too if it is not null, over all servers. The parts of a field
/// may be divided among the servers in any way. `modes`, if not null, keeps this server's sums, so that the next call
/// with the same setup and servers need not find out anew which modes are where. Throws on all alike.
[[nodiscard]] SpectrumSums sums_of_field(std::vector<TransformedPart> first, std::vector<TransformedPart>* second,
                                         const FieldSetup& setup, const Mesh& mesh, const WaveBins& bins,
                                         Communicator& servers, std::optional<SpectrumSums>* modes = nullptr);

}  // namespace sidestream::spectra
