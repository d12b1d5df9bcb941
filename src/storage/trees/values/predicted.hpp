// Values as differences from what is predicted of them.
#pragma once

#include "storage/trees/values/prediction.hpp"
#include "storage/trees/values/residual_coder.hpp"
#include "storage/trees/values/stream_parts.hpp"

namespace sidestream::trees {

/// Tries plans on the same sample. `chunk` has groups and parents, and values are of a type that is `predictable`, here
/// and below.
class PredictionSample {
 public:
  /// Refers to all of them.
  PredictionSample(BytesView values, const TreeChunk& chunk, const Relations& relations);
  /// Bits that a value takes under a plan, about.
  [[nodiscard]] double bits(const PredictionPlan& plan) const;
  /// Gives a plan the weights that suit the sample. False: it is not one to be corrected.
  bool fit_corrections(PredictionPlan& plan);
  /// What it found for that; also of use to encode_predicted.
  [[nodiscard]] ParentSlopes take_slopes() noexcept { return std::move(slopes_); }
  /// The differences, as predicted_zstd would pack them.
  [[nodiscard]] Bytes differences(const PredictionPlan& plan) const;

 private:
  /// The sampled groups of a chunk as a chunk of their own: they go through in one tile.
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

/// `slopes`: those of the chunk under the plan, or none.
void encode_predicted(BytesView values, const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan,
                      const ParentSlopes& slopes, Packer& packer, Bytes& out);
/// Throws Error(file), also if the plan needs other things than the head says; and as Predictor.
void decode_predicted(BytesView stream, const StreamHead& head, const TreeChunk& chunk, const Relations& relations,
                      std::span<std::byte> values);

/// The same differences, of which most are expected to be 0, through zstd.
void encode_predicted_zstd(BytesView values, const TreeChunk& chunk, const Relations& relations,
                           const PredictionPlan& plan, const ParentSlopes& slopes, int level, Packer& packer,
                           Bytes& out);
void decode_predicted_zstd(BytesView stream, const StreamHead& head, const TreeChunk& chunk, const Relations& relations,
                           std::span<std::byte> values);

}  // namespace sidestream::trees
