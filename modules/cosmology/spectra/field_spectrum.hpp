// Spectrum of a whole field: lines along the first axis are transformed in place, the others between exchanges.
#pragma once

#include <optional>

#include "cosmology/spectra/pencils.hpp"
#include "cosmology/spectra/piece_lines.hpp"
#include "cosmology/spectra/spectrum_sums.hpp"

namespace sidestream::spectra {

/// Parameters of a transform.
struct FieldSetup {
  WaveBox box{};  ///< in the order of the mesh's axes
  AxisOrder order{0, 1, 2};
  bool slabs = false;
  Rigour rigour = Rigour::estimate;
  Deconvolution window{};

  [[nodiscard]] Index points(int step) const { return box.points[static_cast<std::size_t>(order[step])]; }
};

/// A server's part of a field after its first axes, passed from `local` to `combine`.
struct TransformedPart {
  bool second_done = false;  ///< the second axis was whole, and is transformed
  PencilArray array{};

  [[nodiscard]] Bytes bytes() const;
  /// Throws Error(system) if the bytes are not a part.
  [[nodiscard]] static TransformedPart from(BytesView bytes);
};

/// Transforms along the first axis, and along the second if the piece is whole there. Plans are kept.
class FirstTransform {
 public:
  explicit FirstTransform(const FieldSetup& setup);
  /// `piece` must belong to the setup's decomposition. read(batch, out, row) writes the numbers of a batch's lines,
  /// along the first axis, to out + l * row for line l.
  template <class Read>
  [[nodiscard]] TransformedPart run(const BlockView& piece, Read&& read) {
    return run(begin(piece.block.cells), piece, read);
  }
  /// Transforms into the result of `begin`; a line's numbers may lie in its row until they are read.
  template <class Read>
  [[nodiscard]] TransformedPart run(TransformedPart part, const BlockView& piece, Read&& read) {
    Index plane = part.array.box().lo[2];
    const int third = setup_.order[2];
    for_each_batch(piece, setup_.order[0], ComplexLines::together, [&](const LineBatch& batch) {
      const Index here = batch.first[static_cast<std::size_t>(third)] - first_[2];
      // A complete plane is still in the cache.
      if (batch.across != third && here != plane) columns(part, plane++);
      read(batch, lines_.data(), row_);
      put(part.array, batch);
    });
    while (plane < part.array.box().hi[2]) columns(part, plane++);
    return part;
  }
  /// Allocates the result for a piece with these cells.
  [[nodiscard]] TransformedPart begin(const Box& cells) const;
  /// The row of line l of a batch: it has room for two more real numbers than the line, or one more if the line's
  /// length is odd.
  [[nodiscard]] Complex* row_of(PencilArray& array, const LineBatch& batch, Index l) const noexcept;

  /// Sets the first index of the mesh, in its own axes; pieces count from there.
  void set_origin(const Index3& origin);

 private:
  void put(PencilArray& array, const LineBatch& batch);
  void columns(TransformedPart& part, Index plane);

  FieldSetup setup_;
  RealLine line_;
  ComplexLines second_;
  Index row_;
  Index3 first_{};  ///< first index of the mesh, in the order of the transform
  std::shared_ptr<PageCache> page_cache_ = PageCache::common();  ///< kept between iterations
  std::vector<double> lines_;
};

/// Computes the sums of modes of a field, and of `second` if it is not null, over all servers. Collective. The parts
/// may be divided among the servers in any way. `modes`, if not null, keeps this server's sums, so that the next call
/// with the same setup and servers need not find the bins of modes again. Throws the same error on all servers.
[[nodiscard]] SpectrumSums sums_of_field(std::vector<TransformedPart> first, std::vector<TransformedPart>* second,
                                         const FieldSetup& setup, const Mesh& mesh, const WaveBins& bins,
                                         Communicator& servers, std::optional<SpectrumSums>* modes = nullptr);

}  // namespace sidestream::spectra
