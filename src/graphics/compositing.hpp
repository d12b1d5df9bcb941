// From the pictures of all servers to one.
#pragma once

#include <cstdint>
#include <span>

#include "graphics/framebuffer.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::rendering {

/// The rows of a picture of `height` rows that member `rank` of `size` completes: equal shares to within one
/// row, in multiples of `unit` rows. Empty for some members if there are more members than shares.
struct Stripe {
  std::int64_t first_row = 0, end_row = 0;
};
[[nodiscard]] Stripe stripe_of(std::int64_t height, std::int64_t unit, int rank, int size);

/// Collective. `partials` are pictures as runs (encode_runs), any number on each member. Every member sends
/// each other one the part of its runs that lies in that one's stripe (direct send) and returns its own
/// stripe, complete.
[[nodiscard]] Framebuffer composite(std::span<const Bytes> partials, std::int64_t width, std::int64_t height,
                                    std::int64_t unit, Communicator& communicator);

}  // namespace sidestream::rendering
