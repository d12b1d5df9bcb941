// Files that several processes write, each in separate ranges.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::database {

/// A file for writes at given offsets. Not copyable. Everything except the destructor throws Error(file).
class GrowingFile {
 public:
  enum class Open { existing, fresh };  ///< fresh: there must be none of that name
  GrowingFile(std::string path, Open how);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&&) = delete;
  void write(std::uint64_t offset, BytesView bytes);
  /// Asks the file system to allocate room from `begin` to `end`. This may be beyond the end of the file, which does
  /// not move. This is a hint. If there is not enough room, everything beyond the end is released.
  void reserve(std::uint64_t begin, std::uint64_t end) noexcept;
  /// Starts writing the bytes from `begin` to `end` to the disk without waiting. This is a hint that shortens a later
  /// flush.
  void begin_flush(std::uint64_t begin, std::uint64_t end) noexcept;
  void flush();
  void close();

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// A file for reads at given offsets. Not copyable.
class PlacedFile {
 public:
  /// Throws Error(file).
  explicit PlacedFile(std::string path);
  ~PlacedFile();
  PlacedFile(PlacedFile&& other) noexcept;
  PlacedFile& operator=(PlacedFile&&) = delete;
  [[nodiscard]] std::uint64_t size() const;
  /// Fills `bytes`. Throws Error(file), also if the file ends before.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sidestream::database
