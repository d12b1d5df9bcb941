// File access that detects and explains all failures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Throws Error(file): `cannot <action> '<path>': <text of error_number>; <what to do about it>`.
[[noreturn]] void fail_file(std::string_view action, const std::string& path, int error_number);

/// Creates the parent directories of `path`. Throws Error(file).
void make_directory_of(const std::string& path);

/// A file that is written sequentially. Buffered; not copyable. Every function that writes throws Error(file).
class OutputFile {
 public:
  /// Creates the file, or truncates an existing one.
  explicit OutputFile(std::string path);
  /// Closes without reporting errors; buffered bytes are lost. Call `close` on success.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  /// Number of bytes written so far.
  [[nodiscard]] std::uint64_t position() const noexcept { return flushed_ + buffer_.size(); }
  /// Overwrites bytes written before, starting at `position`.
  void patch(std::uint64_t position, std::string_view text);
  /// Writes the buffered bytes and closes.
  void close();

 private:
  void flush();
  void write_at(std::uint64_t position, const char* data, std::size_t size);

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t flushed_ = 0;
  std::string buffer_;
};

/// Appends `text` to a file in one write, or creates the file. If the write fails half way, the file is cut to its old
/// length.
void append_to_file(const std::string& path, std::string_view text);

/// Overwrites the first bytes of a file with `text`; creates the file if needed. Throws Error(file).
void overwrite_start(const std::string& path, std::string_view text);

/// A file that is read sequentially. Not copyable. Throws Error(file).
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  /// Fills `data` with the next bytes and returns their number, which is less than `size` only at the end.
  [[nodiscard]] std::size_t read(char* data, std::size_t size);

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Size of a file in bytes. Throws Error(file).
[[nodiscard]] std::uint64_t size_of_file(const std::string& path);

/// Truncates a file to `size` bytes. Throws Error(file).
void cut_file(const std::string& path, std::uint64_t size);

/// The whole content of a file. Throws Error(file).
[[nodiscard]] std::string read_file(const std::string& path);

/// Makes the last writes to a file survive a power failure. Throws Error(file).
void flush_to_disk(const std::string& path);

/// Renames `from` to `to`; an existing `to` is replaced. Throws Error(file).
void rename_file(const std::string& from, const std::string& to);

/// Makes the names in a directory survive a power failure; empty: the working directory. Throws Error(file).
void flush_directory(const std::string& path);

/// Renames `from` to `to`, replaces an existing file, and makes the new name survive a power failure. Throws
/// Error(file).
void rename_durably(const std::string& from, const std::string& to);

// Atomic replacement of a file's content.

/// Replaces `path` atomically: `put` writes a temporary file, whose path it gets, which is then renamed. If anything
/// throws, `path` is unchanged and the temporary file is removed.
void replace_file(const OutputDirectory& directory, const std::string& path,
                  const std::function<void(const std::string& temporary)>& put);

/// Writes a text as the whole content of a file, without flushing it. Throws Error(file).
void write_file(const std::string& path, std::string_view text);

/// Replaces a file's content by a text.
void replace_file(const OutputDirectory& directory, const std::string& path, std::string_view text);

/// Replaces a file in any directory that need not survive a power failure, such as a run's records.
void replace_file(const std::string& path, std::string_view text);

// Writing parts of existing files, and copies of files.

/// Writes `text` into an existing file. Throws Error(file).
void write_at(const std::string& path, std::uint64_t position, std::string_view text);
/// Writes `text` into an open file; messages name it by `path`.
void write_at(int descriptor, const std::string& path, std::uint64_t position, std::string_view text);

/// Reads from an open file. Returns the number of bytes, which is less than asked for only at the end of the file.
[[nodiscard]] std::size_t read_at(int descriptor, const std::string& path, std::uint64_t position, char* data,
                                  std::size_t size);

/// Copies a file's content to the name `to` and replaces an existing file. Throws Error(file).
void copy_file(const std::string& from, const std::string& to);

}  // namespace sidestream
