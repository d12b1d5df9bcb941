#include "transport/shared_memory/spill/spill_folder.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <vector>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::shared_memory {

namespace fs = std::filesystem;

namespace {

constexpr const char* beginning = "sidestream-spill-";

bool lock(int descriptor, int how) {
  while (flock(descriptor, how) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

/// True if the open file is still the one at `path`; it may have been removed in between.
bool is_still(int descriptor, const std::string& path) {
  struct stat open {
  }, named{};
  return fstat(descriptor, &open) == 0 && lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

/// Removes the file if no process has it open. Returns its size, or -1 if it stays.
std::int64_t remove_if_left(const std::string& path) {
  const Descriptor file(open_existing(path, O_RDWR));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) return -1;
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) return -1;
  if (!lock(file.get(), LOCK_EX | LOCK_NB) || !is_still(file.get(), path)) return -1;
  return unlink(path.c_str()) == 0 ? static_cast<std::int64_t>(status.st_size) : -1;
}

}  // namespace

OwnedFile create_spill_file(const std::string& directory) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    std::string path = (fs::path(directory) / fmt::format("{}{:08x}{:08x}", beginning, random(), random())).string();
    Descriptor file(create_new(path, O_RDWR, 0600));
    if (file.get() < 0) {
      if (errno == EEXIST || errno == EINTR) continue;
      fail(Code::system,
           "cannot make the file '{}' for 'when_full: spill': {}; choose another placement.spill.directory", path,
           system_text(errno));
    }
    // A process that cleans up may have removed it before it was locked.
    if (!lock(file.get(), LOCK_EX)) {
      const int error = errno;
      unlink(path.c_str());
      fail(Code::system, "cannot lock '{}': {}; choose a placement.spill.directory on a disk of the node", path,
           system_text(error));
    }
    if (is_still(file.get(), path)) return {std::move(file), std::move(path)};
  }
  fail(Code::system, "cannot make a file for 'when_full: spill' in '{}': each was removed at once", directory);
}

void prepare_spill_folder(const std::string& directory) {
  std::int64_t bytes = 0;
  std::string names;
  try {
    fs::create_directories(directory);
  } catch (const fs::filesystem_error& error) {
    fail(Code::system, "placement.spill.directory is '{}', which cannot be made: {}; choose another", directory,
         system_text(error.code().value()));
  }
  for (const std::string& name : names_in_folder(directory)) {
    if (!name.starts_with(beginning)) continue;
    const std::string path = (fs::path(directory) / name).string();
    const std::int64_t size = remove_if_left(path);
    if (size < 0) continue;
    bytes += size;
    names += (names.empty() ? "" : ", ") + path;
  }
  if (!names.empty()) log::warning("spill: removed what runs that were killed have left, {} bytes: {}", bytes, names);
  struct statfs system {};
  if (statfs(directory.c_str(), &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)) {
    log::warning(
        "spill: '{}' lies in memory (tmpfs), so that what is spilled takes memory of the node; choose a "
        "placement.spill.directory on a disk if that is not meant",
        directory);
  }
}

}  // namespace sidestream::shared_memory
