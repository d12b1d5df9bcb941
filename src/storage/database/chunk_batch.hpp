// Encodes the chunks of a piece, several at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/worker_pool.hpp"
#include "sidestream/extend/tree_codec.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/database/layout.hpp"

namespace sidestream::database {

/// The encoders for all pieces of a domain.
struct Encoding {
  WorkerPool* pool = nullptr;
  PackingPace pace{};
  std::shared_ptr<const TreeCodec> of_trees{};  ///< null if no variable goes through it
};

/// Takes chunks one after the other. Rows and bytes come in that order, for any number of threads.
class ChunkBatch {
 public:
  ChunkBatch(const Encoding& encoding, const Packing& packing, std::vector<ChunkRow>& rows, Bytes& out)
      : encoding_(encoding), packing_(packing), rows_(rows), out_(out) {}
  /// `stays`: the bytes remain valid until `finish` has returned. Others are copied.
  void add(BytesView raw, bool stays);
  void finish();

 private:
  struct Job {
    Bytes copy{};
    BytesView raw{};
    Bytes encoded{};
    std::uint32_t list = 0;
    std::uint64_t checksum = 0;
    [[nodiscard]] BytesView kept() const { return list > 0 ? BytesView(encoded) : raw; }
  };
  [[nodiscard]] std::size_t most() const { return static_cast<std::size_t>(encoding_.pool->threads()) * 2; }

  const Encoding& encoding_;
  const Packing& packing_;
  std::vector<ChunkRow>& rows_;
  Bytes& out_;
  std::vector<Job> jobs_;  ///< the first `filled_` wait; all keep their memory
  std::size_t filled_ = 0;
};

}  // namespace sidestream::database
