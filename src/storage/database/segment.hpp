// Files that several processes write, each at places of its own.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::database {

/// A file that is written at given places. Not copyable. Everything but the destructor throws Error(file).
class GrowingFile {
 public:
  enum class Open { existing, fresh };  ///< fresh: there must be none of that name
  GrowingFile(std::string path, Open how);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&&) = delete;
  void write(std::uint64_t offset, BytesView bytes);
  /// Asks the file system to allocate room from `begin` to `end`, also beyond the end of the file, which does not move.
  /// This is a hint. If there is not enough room, everything beyond the end is released.
  void reserve(std::uint64_t begin, std::uint64_t end) noexcept;
  /// Starts writing the bytes from `begin` to `end` to the disk, and does not wait for it. This is a hint: a later
  /// flush takes less time.
  void begin_flush(std::uint64_t begin, std::uint64_t end) noexcept;
  void flush();
  void close();

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// A file that is read at given places. Not copyable.
class PlacedFile {
 public:
  /// Throws Error(file).
  explicit PlacedFile(std::string path);
  ~PlacedFile();
  PlacedFile(PlacedFile&& other) noexcept;
  PlacedFile& operator=(PlacedFile&&) = delete;
  [[nodiscard]] std::uint64_t size() const;
  /// Fills `bytes`. Throws Error(file), also where the file ends before.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sidestream::database
