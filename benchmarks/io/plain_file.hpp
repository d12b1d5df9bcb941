// A file that one process writes, sequentially or at positions.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "method.hpp"

namespace io {

class PlainFile {
 public:
  PlainFile(std::string path, int flags) : path_(std::move(path)), descriptor_(::open(path_.c_str(), flags, 0666)) {
    if (descriptor_ < 0) fail("open");
  }
  ~PlainFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  void write(const void* data, std::uint64_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(descriptor_, at, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write");
      at += written;
      bytes -= static_cast<std::uint64_t>(written);
    }
  }
  void read(std::uint64_t offset, void* data, std::uint64_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t got = ::pread(descriptor_, at, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail("read");
      at += got;
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::uint64_t>(got);
    }
  }
  void sync() {
    if (::fsync(descriptor_) != 0) fail("flush");
  }
  /// Drops cached pages, so that the next reader gets them from the disk if they were flushed.
  void forget() { ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED); }
  /// The same except for the end of the file, which the next writer needs in memory anyway.
  void forget_beginning() {
    constexpr off_t end = 1 << 20;
    const off_t size = ::lseek(descriptor_, 0, SEEK_END);
    if (size > end) ::posix_fadvise(descriptor_, 0, size - end, POSIX_FADV_DONTNEED);
  }
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("close");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error("cannot " + std::string(what) + " '" + path_ + "': " + std::strerror(errno));
  }
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace io
