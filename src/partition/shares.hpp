// Equal shares of a number of things: arithmetic that several partitioners have in common.
#pragma once

#include <cstdint>

namespace sidestream {

/// `count` things in order among `parts`: contiguous, the first `count mod parts` parts one more than the others.
class Shares {
 public:
  constexpr Shares(std::int64_t count, std::int64_t parts) noexcept
      : parts_(parts), share_(count / parts), more_(count % parts) {}

  /// The first thing of a part; of part `parts`: the number of things.
  [[nodiscard]] constexpr std::int64_t begin(std::int64_t part) const noexcept {
    return part * share_ + (part < more_ ? part : more_);
  }
  [[nodiscard]] constexpr std::int64_t end(std::int64_t part) const noexcept { return begin(part + 1); }
  /// The part that has a thing.
  [[nodiscard]] constexpr std::int64_t part_of(std::int64_t thing) const noexcept {
    const std::int64_t in_larger = more_ * (share_ + 1);
    return thing < in_larger ? thing / (share_ + 1) : more_ + (thing - in_larger) / share_;
  }
  [[nodiscard]] constexpr std::int64_t parts() const noexcept { return parts_; }

 private:
  std::int64_t parts_, share_, more_;
};

}  // namespace sidestream
