// Run-length code of bits: lengths as numbers with seven bits a byte (LEB128).
#pragma once

#include <cstdint>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/trees/flag_bits.hpp"

namespace sidestream {

/// Writes alternating runs of zeros and ones. The first run consists of zeros and may be empty. Each length is a number
/// in groups of seven bits, lowest group first. The highest bit of a byte tells that another byte follows.
class RunWriter {
 public:
  explicit RunWriter(Bytes& out) : out_(out) {}
  /// Adds the bits of `value` at which `mask` has ones.
  void add(std::uint64_t mask, std::uint64_t value) {
    for (;;) {
      const std::uint64_t other = (value ^ current_) & mask;
      if (other == 0) break;
      const std::uint64_t before = (other & (~other + 1)) - 1;
      length_ += static_cast<std::uint64_t>(flag_bits::count_bits(mask & before));
      put();
      current_ = ~current_;
      mask &= ~before;
    }
    length_ += static_cast<std::uint64_t>(flag_bits::count_bits(mask));
  }
  void end() {
    if (length_ > 0) put();
    current_ = 0;
  }

 private:
  void put() {
    while (length_ >= 0x80) {
      out_.push_back(static_cast<std::byte>((length_ & 0x7f) | 0x80));
      length_ >>= 7;
    }
    out_.push_back(static_cast<std::byte>(length_));
    length_ = 0;
  }

  Bytes& out_;
  std::uint64_t current_ = 0, length_ = 0;
};

class RunReader {
 public:
  explicit RunReader(BytesView in) : in_(in) {}
  /// Reads runs from the beginning of the bytes; together they have `total` bits.
  void begin(std::uint64_t total) {
    left_ = total;
    is_first_ = true;
  }
  [[nodiscard]] bool done() const noexcept { return left_ == 0; }
  [[nodiscard]] std::size_t rest() const noexcept { return in_.size(); }
  /// Length of the next run. Throws Error(file) if there is none, or if it is longer than the rest.
  [[nodiscard]] std::uint64_t next() {
    std::uint64_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (in_.empty() || shift > 56) wrong();
      const auto byte = static_cast<std::uint64_t>(in_.front());
      in_ = in_.subspan(1);
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (length > left_ || (length == 0 && !is_first_)) wrong();
    is_first_ = false;
    left_ -= length;
    return length;
  }

 private:
  [[noreturn]] static void wrong() {
    fail(Code::file, "runs of flags that are not those of the tree; they are damaged");
  }
  BytesView in_;
  std::uint64_t left_ = 0;
  bool is_first_ = true;
};

}  // namespace sidestream
