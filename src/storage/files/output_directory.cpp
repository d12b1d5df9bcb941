// The directory of results. Files are written under hidden names and appear by a rename (commit), or not at all
// (discard).
//
// With `flush`, commit waits until the content is on the disk, renames, and then flushes the directories.
// DirectoryLock keeps two runs apart with a lock on an open file, which vanishes with the process. Its holder removes
// the file before it closes it, so whoever gets the lock checks that the file still has its name, and otherwise tries
// again. A file system without locks gets a warning.
#include "storage/files/output_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <set>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/data/file_pattern.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/striping.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

class PlainDirectory final : public OutputDirectory {
 public:
  PlainDirectory(std::string root, std::string provenance, Continuation what, bool flush, const FileRules& rules,
                 bool speaks)
      : root_(std::move(root)),
        provenance_(std::move(provenance)),
        continuation_(what),
        flush_(flush),
        writers_(rules.writers),
        striping_(rules.striping, root_, speaks) {}

  std::string path(const std::string& pattern, const Iteration& iteration, int server) const override {
    return (fs::path(root_) / expand_pattern(pattern, iteration, server)).string();
  }

  std::string temporary(const std::string& path) const override {
    make_directory_of(path);
    return hidden(path);
  }

  void commit(const std::string& path) const override { commit_all({path}); }

  void commit_all(const std::vector<std::string>& paths) const {
    std::set<std::string> parents;
    for (const std::string& path : paths) {
      if (flush_) flush_to_disk(hidden(path));
      parents.insert(fs::path(path).parent_path().string());
    }
    for (const std::string& path : paths) rename_file(hidden(path), path);
    for (const std::string& parent : parents) {
      if (flush_) flush_directory(parent);
    }
  }

  void discard(const std::string& path) const noexcept override {
    try {
      retry_while_out_of_memory([&] { ::unlink(hidden(path).c_str()); });
    } catch (const std::bad_alloc&) {  // the file stays, and a later run overwrites it
    }
  }

  const std::string& provenance() const noexcept override { return provenance_; }
  bool resumes() const noexcept override { return continuation_ != Continuation::nothing; }
  bool within_session() const noexcept override { return continuation_ == Continuation::session; }
  int writers() const noexcept override { return writers_; }
  bool stripe(const std::string& made, const std::string& path) const { return striping_.create(made, path); }

 private:
  /// The leading dot hides the file from `*`, and the ending hides it from programs that select by ending.
  static std::string hidden(const std::string& path) {
    const fs::path whole(path);
    return (whole.parent_path() / fmt::format(".{}.part", whole.filename().string())).string();
  }

  std::string root_, provenance_;
  Continuation continuation_;
  bool flush_;
  int writers_;
  Striping striping_;
};

const PlainDirectory* plain(const OutputDirectory& directory) noexcept {
  return dynamic_cast<const PlainDirectory*>(&directory);
}

}  // namespace

bool stripe_file(const OutputDirectory& directory, const std::string& made, const std::string& path) {
  const PlainDirectory* const own = plain(directory);
  return own && own->stripe(made, path);
}

std::string begin_file(const OutputDirectory& directory, const std::string& path) {
  std::string temporary = directory.temporary(path);
  stripe_file(directory, temporary, path);
  return temporary;
}

void commit_all(const OutputDirectory& directory, const std::vector<std::string>& paths) {
  if (const PlainDirectory* const own = plain(directory)) return own->commit_all(paths);
  for (const std::string& path : paths) directory.commit(path);
}

std::shared_ptr<const OutputDirectory> open_output_directory(const std::string& root, const std::string& provenance,
                                                             Continuation what, bool flush, const FileRules& rules,
                                                             bool speaks) {
  const std::string directory = root.empty() ? "." : root;
  make_directory_of((fs::path(directory) / "file").string());
  // This is checked now, because a run that cannot keep its results should end before it computes for a day.
  if (::access(directory.c_str(), W_OK | X_OK) != 0) fail_file("write into the directory", directory, errno);
  return std::make_shared<PlainDirectory>(directory, provenance, what, flush, rules, speaks);
}

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
