// Base64 (RFC 4648, with padding), the encoding of values in VTK's XML files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/files/output_file.hpp"

namespace sidestream {

/// Number of characters that encode `bytes` bytes.
[[nodiscard]] constexpr std::uint64_t base64_size(std::uint64_t bytes) noexcept { return (bytes + 2) / 3 * 4; }

/// Encodes all of `bytes` into base64_size(bytes.size()) characters at `out`.
void base64_encode(std::span<const std::byte> bytes, char* out) noexcept;

/// Encodes bytes, appended in parts of any size, as one text in a file.
class Base64Stream {
 public:
  explicit Base64Stream(OutputFile& file) : file_(file) {}
  void append(std::span<const std::byte> bytes);
  /// Writes the last characters and the padding; afterwards a new text may begin.
  void finish();

 private:
  void encode(std::span<const std::byte> bytes);

  OutputFile& file_;
  std::array<std::byte, 3> rest_{};  ///< bytes of an incomplete group of three
  std::size_t rest_size_ = 0;
  std::string text_;
};

}  // namespace sidestream
