// Particles of a sample, contiguous in memory because samples are large.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

/// One particle: a hash, an identity, and numbers. All particles have equally many numbers.
class DrawnPoint {
 public:
  explicit DrawnPoint(std::span<const std::uint64_t> words) : words_(words) {}
  [[nodiscard]] std::uint64_t hash() const noexcept { return words_[0]; }
  [[nodiscard]] std::int64_t id() const noexcept { return static_cast<std::int64_t>(words_[1]); }
  [[nodiscard]] double number(std::size_t n) const noexcept {
    double value = 0;
    std::memcpy(&value, &words_[2 + n], sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return words_; }
  /// A total order; only particles that are equal in all bits are equivalent.
  [[nodiscard]] bool operator<(const DrawnPoint& other) const noexcept {
    if (hash() != other.hash()) return hash() < other.hash();
    if (id() != other.id()) return id() < other.id();
    return std::memcmp(words_.data() + 2, other.words_.data() + 2, (words_.size() - 2) * sizeof(std::uint64_t)) < 0;
  }

 private:
  std::span<const std::uint64_t> words_;
};

class DrawnPoints {
 public:
  /// `numbers` is the count per particle.
  explicit DrawnPoints(std::size_t numbers) : width_(2 + numbers) {}

  [[nodiscard]] std::size_t size() const noexcept { return words_.size() / width_; }
  [[nodiscard]] DrawnPoint operator[](std::size_t n) const noexcept {
    return DrawnPoint(std::span(words_).subspan(n * width_, width_));
  }
  void add(const DrawnPoint& point) { words_.insert(words_.end(), point.words().begin(), point.words().end()); }
  /// Begins a particle. A call of `add_number` for each of its numbers must follow.
  void begin(std::uint64_t hash, std::int64_t id) {
    words_.push_back(hash);
    words_.push_back(static_cast<std::uint64_t>(id));
  }
  void add_number(double number) { std::memcpy(&words_.emplace_back(), &number, sizeof number); }
  void reserve(std::size_t points) { words_.reserve(points * width_); }

  /// Keeps the `most` least particles, in any order.
  void keep_least(std::size_t most) {
    if (size() <= most) return;
    std::vector<std::uint32_t> order = numbers();
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(), Before{this});
    order.resize(most);
    std::sort(order.begin(), order.end());
    for (std::size_t n = 0; n < most; ++n) {
      std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(order[n] * width_), width_,
                  words_.begin() + static_cast<std::ptrdiff_t>(n * width_));
    }
    words_.resize(most * width_);
  }
  /// The numbers of the particles, least particle first.
  [[nodiscard]] std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> order = numbers();
    std::sort(order.begin(), order.end(), Before{this});
    return order;
  }
  [[nodiscard]] BytesView bytes() const noexcept { return std::as_bytes(std::span(words_)); }
  /// Calls f(point) for each particle in serialised bytes.
  template <class F>
  static void for_each(BytesView bytes, std::size_t numbers, F&& f) {
    std::vector<std::uint64_t> words(2 + numbers);
    const std::size_t each = words.size() * sizeof(std::uint64_t);
    if (bytes.size() % each != 0) fail(Code::internal, "{} bytes of particles of {} each", bytes.size(), each);
    for (; !bytes.empty(); bytes = bytes.subspan(each)) {
      std::memcpy(words.data(), bytes.data(), each);
      f(DrawnPoint(words));
    }
  }

 private:
  struct Before {
    const DrawnPoints* points;
    bool operator()(std::uint32_t a, std::uint32_t b) const noexcept { return (*points)[a] < (*points)[b]; }
  };
  [[nodiscard]] std::vector<std::uint32_t> numbers() const {
    if (size() > UINT32_MAX)
      fail(Code::analysis, "a sample of {} particles on one server, expected at most 2^32", size());
    std::vector<std::uint32_t> numbers(size());
    for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = static_cast<std::uint32_t>(n);
    return numbers;
  }

  std::size_t width_;
  std::vector<std::uint64_t> words_;
};

}  // namespace sidestream
