// File access by descriptor: reads at positions, and writes that are flushed to the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::staging {

/// Throws Error(file) with the system's reason: "cannot `action` '`path`' (...)".
[[noreturn]] void fail_file(const char* action, const std::string& path, int error);

/// An open file, which the destructor closes. Functions throw Error(file). Files are named relative to an open
/// directory (`directory`, which the caller keeps); `path` is for messages. No symbolic link is followed.
class PosixFile {
 public:
  /// Creates an empty file for writing. A file of that name is removed first instead of being overwritten.
  [[nodiscard]] static PosixFile create(int directory, const std::string& name, std::string path);
  /// Opens an existing file to overwrite parts of it.
  [[nodiscard]] static PosixFile open_to_overwrite(int directory, const std::string& name, std::string path);
  /// Opens a file for reading; returns nothing if it does not exist.
  [[nodiscard]] static std::optional<PosixFile> open(int directory, const std::string& name, std::string path);
  PosixFile(PosixFile&& other) noexcept;
  PosixFile& operator=(PosixFile&&) = delete;
  ~PosixFile();

  void write(BytesView bytes);
  /// Waits until the bytes are on the disk.
  void flush();
  /// Writes over existing bytes.
  void overwrite(BytesView bytes, std::uint64_t at);
  [[nodiscard]] std::uint64_t size() const;
  /// Fills `bytes` from offset `at` on. Throws if the file ends before.
  void read(std::span<std::byte> bytes, std::uint64_t at) const;

 private:
  PosixFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  [[nodiscard]] static PosixFile checked(int descriptor, std::string path);
  int descriptor_;
  std::string path_;
};

}  // namespace sidestream::staging
