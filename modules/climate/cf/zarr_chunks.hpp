// Writes arrays whose inner chunks are encoded, so that their sizes are known only then.
//
// Each server gets the values of some chunks, wherever their blocks are, and encodes them. All tell each other the
// sizes, so each knows where its chunks begin in the file. The bytes of a file do not depend on the number of servers.
// Arrays go through in batches, which bounds the memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "climate/cf/cf_output.hpp"
#include "climate/cf/zarr_array.hpp"

namespace sidestream {

class ZarrChunks {
 public:
  /// `writers`: number of servers that may write at a time, 0: all. The objects must outlive this one.
  ZarrChunks(const CfOutput& output, const std::vector<ZarrArray>& arrays, int writers)
      : output_(output), arrays_(arrays), writers_(writers) {}

  /// Collective. Returns why this server's part failed, or an empty text. Throws if the communication fails.
  [[nodiscard]] std::string write(const CombineInput& input, const CfAgreement& agreement) const;

 private:
  /// One array in a batch.
  struct Part {
    std::size_t array = 0;
    CfPlace place{};
    std::size_t slow = 0;                                  ///< the axis whose rows chunks divide
    std::uint64_t first = 0, chunks = 0, chunk_bytes = 0;  ///< `first`: number of its first chunk in the batch
  };
  struct Batch {
    std::vector<Part> parts{};
    std::size_t end = 0;       ///< the array behind it
    std::uint64_t chunks = 0;  ///< of all its arrays
    std::uint64_t servers = 1;
  };
  /// Encoded chunks of one server.
  struct Encoded {
    std::vector<std::uint64_t> lengths{};
    Bytes bytes{};
  };
  [[nodiscard]] Batch next_batch(const CombineInput& input, const CfAgreement& agreement, std::size_t begin) const;
  /// The values here by the server that encodes them.
  [[nodiscard]] std::vector<Bytes> divide(const CombineInput& input, const CfAgreement& agreement,
                                          const Batch& batch) const;
  [[nodiscard]] Encoded encode(std::vector<Bytes> messages, const Batch& batch, std::uint64_t server) const;
  void write_mine(const Encoded& mine, const std::vector<std::uint64_t>& lengths, const CfAgreement& agreement,
                  const Batch& batch, std::uint64_t server) const;

  const CfOutput& output_;
  const std::vector<ZarrArray>& arrays_;
  int writers_;
};

}  // namespace sidestream
