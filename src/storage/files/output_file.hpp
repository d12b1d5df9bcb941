// Writing a file so that every failure is noticed and explained.
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

/// Makes the directory that `path` lies in, and those above it. Throws Error(file).
void make_directory_of(const std::string& path);

/// A file that is written from its start. Buffered; not copyable. Every function that writes throws
/// Error(file).
class OutputFile {
 public:
  /// Creates the file, or empties it if it exists.
  explicit OutputFile(std::string path);
  /// Closes without reporting; what is still buffered is lost. Call `close` when all went well.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  /// Number of bytes written so far.
  [[nodiscard]] std::uint64_t position() const noexcept { return flushed_ + buffer_.size(); }
  /// Replaces bytes written before, starting at `position`.
  void patch(std::uint64_t position, std::string_view text);
  /// Writes what is buffered and closes.
  void close();

 private:
  void flush();
  void write_at(std::uint64_t position, const char* data, std::size_t size);

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t flushed_ = 0;
  std::string buffer_;
};

/// Adds `text` to the end of a file in one write; there need be no file. If that fails half way, the file gets its old
/// length back.
void append_to_file(const std::string& path, std::string_view text);

/// Writes `text` over the first bytes of a file, which is created if need be. Throws Error(file).
void overwrite_start(const std::string& path, std::string_view text);

/// A file that is read from its start. Not copyable. Throws Error(file).
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  /// Fills `data` with the next bytes and returns how many there were: less than `size` at the end only.
  [[nodiscard]] std::size_t read(char* data, std::size_t size);

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Bytes in a file. Throws Error(file).
[[nodiscard]] std::uint64_t size_of_file(const std::string& path);

/// Drops what lies beyond the first `size` bytes. Throws Error(file).
void cut_file(const std::string& path, std::uint64_t size);

/// The whole content of a file. Throws Error(file).
[[nodiscard]] std::string read_file(const std::string& path);

/// Makes what was written to the file last beyond a loss of power. Throws Error(file).
void flush_to_disk(const std::string& path);

/// Gives `from` the name `to`, replacing what is there. Throws Error(file).
void rename_file(const std::string& from, const std::string& to);

/// Makes the names in a directory last; empty is the working directory. Throws Error(file).
void flush_directory(const std::string& path);

/// Gives `from` the name `to`, replacing what is there, and makes the new name last. Throws Error(file).
void rename_durably(const std::string& from, const std::string& to);

// Giving a file new content in one step.

/// Lets `put` write a temporary file, whose path it gets, and gives that the name `path`. If anything throws,
/// `path` is as it was and the temporary file is gone.
void replace_file(const OutputDirectory& directory, const std::string& path,
                  const std::function<void(const std::string& temporary)>& put);

/// Writes a text as the whole of a file, without flushing it. Throws Error(file).
void write_file(const std::string& path, std::string_view text);

/// replace_file for a text.
void replace_file(const OutputDirectory& directory, const std::string& path, std::string_view text);

/// The same for a file anywhere, which need not last beyond a loss of power: of a run's records.
void replace_file(const std::string& path, std::string_view text);

// What the library's own output directory can do beyond the contract.

class BatchDirectory : public OutputDirectory {
 public:
  /// As `commit` of each, at less cost: flushes all files, names all, then flushes each directory once. Throws
  /// Error(file); those whose temporary file is gone have been named then.
  virtual void commit_all(const std::vector<std::string>& paths) const = 0;
  /// Whether what the run goes on with is of its own session: servers before these left it.
  [[nodiscard]] virtual bool within_session() const noexcept = 0;
};

/// BatchDirectory::within_session where the directory has it.
[[nodiscard]] inline bool goes_on_within_session(const OutputDirectory& directory) noexcept {
  const auto* batch = dynamic_cast<const BatchDirectory*>(&directory);
  return batch && batch->within_session();
}

/// commit_all where the directory has it, otherwise one by one.
inline void commit_all(const OutputDirectory& directory, const std::vector<std::string>& paths) {
  if (const auto* batch = dynamic_cast<const BatchDirectory*>(&directory)) return batch->commit_all(paths);
  for (const std::string& path : paths) directory.commit(path);
}

}  // namespace sidestream
