// Requests for ranges and their answers, in few bytes.
#pragma once

#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream::mpi {

/// A server's question to a holder. Regions have no `beside` and no `client`, which only the server needs.
struct RangeQuestion {
  std::vector<RangeRequest> requests;
  std::vector<RangeRegion> regions;
};

/// Never empty, so that an empty body can mean "the same as before".
[[nodiscard]] Bytes write_question(std::span<const RangeRequest> requests, std::span<const RangeRegion> regions);
/// Throws Error(system) if the bytes are not those of a question.
[[nodiscard]] RangeQuestion read_question(BytesView bytes);

[[nodiscard]] Bytes write_ranges(const MeasuredRanges& ranges);
/// Throws Error(system) if the bytes are not those of ranges.
[[nodiscard]] MeasuredRanges read_ranges(BytesView bytes);

}  // namespace sidestream::mpi
