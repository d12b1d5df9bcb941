#include "storage/files/directory_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/files.hpp"
#include "base/log.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/files/output_file.hpp"

namespace sidestream {

namespace {

std::string owner_text() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}\n", ::getpid(), host.data());
}

std::string read_owner(int descriptor) {
  std::array<char, 300> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size() - 1, 0);
  const std::string owner(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return owner.empty() ? "another process" : owner.substr(0, owner.find('\n'));
}

/// Open file description locks: two sessions of one process exclude each other as well.
int lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  int status = 0;
  do {
    status = ::fcntl(descriptor, F_OFD_SETLK, &whole);
  } while (status != 0 && errno == EINTR);
  return status == 0 ? 0 : errno;
}

/// True if `path` still names the open file: its holder may have removed it before we got the lock.
bool is_named(int descriptor, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor, &opened) != 0 || ::lstat(path.c_str(), &named) != 0) return false;
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

DirectoryLock::DirectoryLock(const std::string& directory, const std::string& name)
    : path_((std::filesystem::path(directory) / name).string()) {
  make_directory_of(path_);
  while (!try_take(directory)) {
  }
}

/// Returns false if the file was removed meanwhile; then try again.
bool DirectoryLock::try_take(const std::string& directory) {
  descriptor_ = open_or_create(path_, O_RDWR);
  if (descriptor_ < 0) fail_file("create", path_, errno);
  const int error = lock(descriptor_);
  const bool named = error == 0 && is_named(descriptor_, path_);
  if (error == EAGAIN || error == EACCES) {
    const std::string owner = read_owner(descriptor_);
    ::close(descriptor_);
    fail(Code::file,
         "another run writes into the output directory '{}' ({} holds '{}'); wait until it ends or choose another with "
         "output.directory",
         directory, owner, path_);
  }
  if (error != 0) {
    log::warning("cannot lock '{}' (error {}): see to it yourself that no two runs write into one directory", path_,
                 error);
  } else if (!named) {
    ::close(descriptor_);
    return false;
  }
  const std::string owner = owner_text();
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, owner.data(), owner.size(), 0) < 0) {
    log::warning("cannot say in '{}' who holds it", path_);
  }
  return true;
}

bool is_locked(const std::string& directory, const std::string& name) {
  const std::string path = (std::filesystem::path(directory) / name).string();
  const int descriptor = open_existing(path, O_RDONLY);
  if (descriptor < 0) return false;
  struct flock asked {};
  asked.l_type = F_WRLCK;
  asked.l_whence = SEEK_SET;
  const bool known = ::fcntl(descriptor, F_OFD_GETLK, &asked) == 0;
  ::close(descriptor);
  return known && asked.l_type != F_UNLCK;
}

DirectoryLock::~DirectoryLock() {
  ::unlink(path_.c_str());  // unlinked first: a process that opens the file now finds it locked, or nameless and tries
                            // again
  ::close(descriptor_);
}

}  // namespace sidestream
