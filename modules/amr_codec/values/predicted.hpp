// Codes values as residuals of their predictions.
#pragma once

#include "amr_codec/values/prediction.hpp"
#include "amr_codec/values/residual_coder.hpp"
#include "amr_codec/values/stream_parts.hpp"

namespace sidestream::trees {

/// Tries plans on the same sample. Here and below, `chunk` must have groups, parents and a `predictable` type.
class PredictionSample {
 public:
  /// Keeps references to all arguments.
  PredictionSample(BytesView values, const TreeChunk& chunk, const Relations& relations);
  /// Approximate bits per value under a plan.
  [[nodiscard]] double bits(const PredictionPlan& plan) const;
  /// Fits the weights of a plan to the sample. False if the plan cannot be corrected.
  bool fit_corrections(PredictionPlan& plan);
  /// The slopes that fit_corrections() computed; encode_predicted() can use them again.
  [[nodiscard]] ParentSlopes take_slopes() noexcept { return std::move(slopes_); }
  /// The residuals of the sample, shuffled as predicted_zstd packs them.
  [[nodiscard]] Bytes differences(const PredictionPlan& plan) const;

 private:
  /// A copy of the sampled groups as a separate chunk, which fits into one tile.
  struct Together {
    TreeChunk chunk;
    std::vector<Index> parent, beside;
    Bytes values;
    std::vector<Bytes> companion_values;
    std::vector<Companion> companions;
  };
  void put_together();
  template <class T, class Begin, class Take>
  void each(const PredictionPlan& plan, std::size_t run_length, Begin&& begin, Take&& take) const;
  template <class T, class Take>
  void each_sampled(const PredictionPlan& plan, Take&& take) const;
  BytesView values_;
  const TreeChunk& chunk_;
  const Relations& relations_;
  GroupFinder finder_{};
  ParentSlopes slopes_{};
  Together together_{};
};

/// Appends the plan and the residuals. `slopes` are the chunk's slopes under the plan, or empty.
void encode_predicted(BytesView values, const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan,
                      const ParentSlopes& slopes, Packer& packer, Bytes& out);
/// The inverse of encode_predicted(). Throws Error(file) for damaged bytes, or if the plan needs values that the head
/// does not name. Throws as Predictor does.
void decode_predicted(BytesView stream, const StreamHead& head, const TreeChunk& chunk, const Relations& relations,
                      std::span<std::byte> values);

/// Codes the same residuals through zstd, for plans that leave mostly zeros.
void encode_predicted_zstd(BytesView values, const TreeChunk& chunk, const Relations& relations,
                           const PredictionPlan& plan, const ParentSlopes& slopes, int level, Packer& packer,
                           Bytes& out);
void decode_predicted_zstd(BytesView stream, const StreamHead& head, const TreeChunk& chunk, const Relations& relations,
                           std::span<std::byte> values);

}  // namespace sidestream::trees
