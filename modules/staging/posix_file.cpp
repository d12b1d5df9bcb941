#include "staging/posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream::staging {

namespace {
constexpr std::size_t most_at_once = std::size_t{1} << 30;  // Linux takes at most 2 GiB in a call
}

void fail_file(const char* action, const std::string& path, int error) {
  fail(Code::file, "cannot {} '{}' ({}){}", action, path, system_text(error),
       error == ENOSPC ? "; free space there or name another directory" : "");
}

PosixFile PosixFile::create(int directory, const std::string& name, std::string path) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = above_standard(::openat(directory, name.c_str(), flags, 0666));
  if (descriptor < 0 && errno == EEXIST) {  // left by a killed process, or placed by somebody else
    ::unlinkat(directory, name.c_str(), 0);
    descriptor = above_standard(::openat(directory, name.c_str(), flags, 0666));
  }
  if (descriptor < 0) fail_file("make the file", path, errno);
  return {descriptor, std::move(path)};
}

/// Throws unless it is a regular file of this user: its content decides what we do.
PosixFile PosixFile::checked(int descriptor, std::string path) {
  PosixFile file(descriptor, std::move(path));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_file("ask for the owner of", file.path_, errno);
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
    fail(Code::file, "'{}' is no file of this user; remove it, or name a directory that nobody else can write to",
         file.path_);
  }
  return file;
}

std::optional<PosixFile> PosixFile::open(int directory, const std::string& name, std::string path) {
  // O_NONBLOCK keeps a pipe of that name from making us wait.
  const int descriptor =
      above_standard(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (descriptor >= 0) return checked(descriptor, std::move(path));
  if (errno == ENOENT) return std::nullopt;
  fail_file("open", path, errno);
}

PosixFile PosixFile::open_to_overwrite(int directory, const std::string& name, std::string path) {
  const int descriptor =
      above_standard(::openat(directory, name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (descriptor < 0) fail_file("open", path, errno);
  return checked(descriptor, std::move(path));
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

PosixFile::~PosixFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PosixFile::write(BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most_at_once));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_file("write", path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void PosixFile::flush() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail_file("flush", path_, errno);
}

void PosixFile::overwrite(BytesView bytes, std::uint64_t at) {
  if (::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at)) < 0) fail_file("write", path_, errno);
}

std::uint64_t PosixFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail_file("ask for the size of", path_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void PosixFile::read(std::span<std::byte> bytes, std::uint64_t at) const {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pread(descriptor_, bytes.data(), std::min(bytes.size(), most_at_once), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_file("read", path_, errno);
    if (done == 0) fail(Code::file, "'{}' ends too early: {} bytes are missing at {}", path_, bytes.size(), at);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::uint64_t>(done);
  }
}

}  // namespace sidestream::staging
