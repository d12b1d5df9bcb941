#include "storage/database/segment.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream::database {

namespace {

int checked(int descriptor, const char* action, const std::string& path) {
  if (descriptor < 0) fail_file(action, path, errno);
  return descriptor;
}

}  // namespace

GrowingFile::GrowingFile(std::string path, Open how)
    : path_(std::move(path)),
      descriptor_(how == Open::fresh ? checked(create_new(path_, O_WRONLY), "create", path_)
                                     : checked(open_existing(path_, O_WRONLY), "open", path_)) {}

GrowingFile::GrowingFile(GrowingFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

GrowingFile::~GrowingFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void GrowingFile::write(std::uint64_t offset, BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_file("write", path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void GrowingFile::reserve(std::uint64_t begin, std::uint64_t end) noexcept {
  struct statfs system {};
  // A file system in memory gains nothing from this, and would clear each page before it is written.
  if (::fstatfs(descriptor_, &system) != 0 || system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC) return;
  if (::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) == 0)
    return;
  // The disk is full: release this file's share, since other files need it.
  struct stat facts {};
  if (::fstat(descriptor_, &facts) != 0) return;
  [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, facts.st_size);
}

void GrowingFile::begin_flush(std::uint64_t begin, std::uint64_t end) noexcept {
  static_cast<void>(::sync_file_range(descriptor_, static_cast<off_t>(begin), static_cast<off_t>(end - begin),
                                      SYNC_FILE_RANGE_WRITE));
}

void GrowingFile::flush() {
  if (::fsync(descriptor_) != 0) fail_file("flush", path_, errno);
}

void GrowingFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  // Network file systems report a full disk or an exceeded quota here at the earliest.
  if (::close(descriptor) != 0 && errno != EINTR) fail_file("finish writing", path_, errno);
}

PlacedFile::PlacedFile(std::string path) : path_(std::move(path)), descriptor_(open_file_to_read(path_)) {
  if (descriptor_ >= 0) return;
  if (errno != ENXIO) fail_file("open", path_, errno);
  fail(Code::file, "'{}' is no file but something else, where a segment of a database is expected", path_);
}

PlacedFile::PlacedFile(PlacedFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

PlacedFile::~PlacedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t PlacedFile::size() const {
  struct stat facts {};
  if (::fstat(descriptor_, &facts) != 0) fail_file("examine", path_, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

void PlacedFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file("read", path_, errno);
    if (got == 0) fail(Code::file, "'{}' ends before byte {}; it was cut off", path_, offset + bytes.size());
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace sidestream::database
