// Files of a stream's directory that appear, change and vanish as a whole.
//
// put: writes `.NAME.part`, flushes it, and renames it. put_new: links it instead, which fails if the name is taken.
// get, rename, remove: report a missing file as such, since the other side may just have removed it.
// Each call opens the directory anew, without following a link, and checks its owner and mode: it may have been
// replaced since. All other failures are Error(file) with the path; destructors log.
#include "staging/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "staging/heartbeat.hpp"

namespace sidestream::staging {

namespace fs = std::filesystem;

namespace {

/// An open directory. Each use opens it again, since it may be removed and created again while we wait for a stream.
class Opened {
 public:
  explicit Opened(const std::string& path) : descriptor_(open_folder(path, false)), error_(errno) {
    if (descriptor_ < 0) {
      if (error_ == ELOOP || (error_ == ENOTDIR && is_link(path))) {
        fail(Code::file, "the stream's directory '{}' is a symbolic link; remove it, or name the directory it leads to",
             path);
      }
      if (error_ != ENOENT) fail_file("open the directory", path, error_);
      return;
    }
    struct stat status {};
    const bool known = ::fstat(descriptor_, &status) == 0;
    const bool open_to_all = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0;
    if (known && status.st_uid == ::geteuid() && !open_to_all) return;
    ::close(descriptor_);
    fail(Code::file,
         "the stream's directory '{}' {}: whoever can write into it controls what is read from it; remove it, or name "
         "another with 'directory'",
         path, known && open_to_all ? "may be written by every user" : "belongs to another user");
  }
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  /// Throws if the directory is missing.
  [[nodiscard]] int get(const std::string& path) const {
    if (descriptor_ < 0) fail_file("open the directory", path, error_);
    return descriptor_;
  }
  [[nodiscard]] bool missing() const noexcept { return descriptor_ < 0; }

 private:
  static bool is_link(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  }
  int descriptor_, error_;
};

std::string part(std::string_view name) { return fmt::format(".{}.part", name); }

/// The names of all files; empty if there is no such directory.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> all;
  const Opened directory(path);
  if (directory.missing()) return all;
  // The descriptor refers to the directory that was checked.
  const int descriptor = above_standard(::openat(directory.get(path), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* stream = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (!stream) {
    if (descriptor >= 0) ::close(descriptor);
    fail_file("list the directory", path, errno);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> owner(stream, ::closedir);
  while (const dirent* entry = ::readdir(stream)) all.emplace_back(entry->d_name);
  return all;
}

}  // namespace

void Folder::prepare() const {
  std::error_code error;
  const fs::path parent = fs::path(path_).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  // Others may not write, whatever the umask says.
  constexpr mode_t mode = 0775;
  const bool made = !error && (::mkdir(path_.c_str(), mode) == 0 || errno == EEXIST);
  const int reason = error ? error.value() : errno;
  if (!made) {
    fail(Code::file,
         "cannot write into the stream's directory '{}' ({}); make it writable or name another with 'directory'", path_,
         system_text(reason));
  }
  const Opened directory(path_);
  if (::faccessat(directory.get(path_), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    fail(Code::file,
         "cannot write into the stream's directory '{}' ({}); make it writable or name another with 'directory'", path_,
         system_text(errno));
  }
}

std::string Folder::path(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

PosixFile Folder::begin(std::string_view name) const {
  const Opened directory(path_);
  return PosixFile::create(directory.get(path_), part(name), path(part(name)));
}

void Folder::finish(std::string_view name) const {
  const Opened directory(path_);
  const int at = directory.get(path_);
  if (::renameat(at, part(name).c_str(), at, std::string(name).c_str()) != 0) {
    fail_file("name the file", path(name), errno);
  }
}

void Folder::abandon(std::string_view name) const noexcept {
  try {
    remove(part(name));
  } catch (...) {  // no memory for the name: the next run removes the file
  }
}

std::optional<PosixFile> Folder::open(std::string_view name) const {
  const Opened directory(path_);
  if (directory.missing()) return std::nullopt;
  return PosixFile::open(directory.get(path_), std::string(name), path(name));
}

PosixFile Folder::open_to_overwrite(std::string_view name) const {
  const Opened directory(path_);
  return PosixFile::open_to_overwrite(directory.get(path_), std::string(name), path(name));
}

void Folder::put(std::string_view name, BytesView content) const {
  try {
    PosixFile file = begin(name);
    file.write(content);
    file.flush();
    finish(name);
  } catch (...) {
    abandon(name);
    throw;
  }
}

void Folder::put(std::string_view name, std::string_view text) const { put(name, std::as_bytes(std::span(text))); }

bool Folder::put_new(std::string_view name, std::string_view text) const {
  const std::string own = fmt::format("{}.{}", name, ::getpid());
  PosixFile file = begin(own);
  file.write(std::as_bytes(std::span(text)));
  file.flush();
  const Opened directory(path_);
  const int at = directory.get(path_);
  // Unlike a rename, a link fails if the name is taken, on network file systems too.
  const bool made = ::linkat(at, part(own).c_str(), at, std::string(name).c_str(), 0) == 0;
  const int error = errno;
  abandon(own);
  if (!made && error != EEXIST) fail_file("name the file", path(name), error);
  return made;
}

std::optional<Bytes> Folder::get(std::string_view name) const {
  std::optional<PosixFile> file = open(name);
  if (!file) return std::nullopt;
  Bytes content(file->size());
  file->read(content, 0);
  return content;
}

std::optional<std::string> Folder::text(std::string_view name) const {
  const std::optional<Bytes> content = get(name);
  if (!content) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(content->data()), content->size());
}

bool Folder::rename(std::string_view from, std::string_view to) const {
  const Opened directory(path_);
  if (directory.missing()) return false;
  const int at = directory.get(path_);
  if (::renameat(at, std::string(from).c_str(), at, std::string(to).c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  fail_file("rename", path(from), errno);
}

void Folder::remove(std::string_view name) const noexcept {
  try {
    const Opened directory(path_);
    if (!directory.missing()) ::unlinkat(directory.get(path_), std::string(name).c_str(), 0);
  } catch (...) {  // no memory for the name, or a directory of another user: the file stays
  }
}

std::vector<std::int64_t> Folder::numbers(std::string_view prefix) const {
  std::vector<std::int64_t> found;
  for (const std::string& name : names_in(path_)) {
    if (!name.starts_with(prefix)) continue;
    std::int64_t number = 0;
    const char* last = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + prefix.size(), last, number);
    if (problem == std::errc() && stop == last) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void Folder::clear(const std::vector<std::string>& prefixes) const {
  for (const std::string& name : names_in(path_)) {
    const auto begins = [&](const std::string& prefix) { return name.starts_with(prefix); };
    if (std::any_of(prefixes.begin(), prefixes.end(), begins)) remove(name);
  }
}

OpeningFile::OpeningFile(const Folder& folder) : folder_(folder) {
  std::uint64_t number = 0;
  [[maybe_unused]] const auto got = getrandom(&number, sizeof number, 0);  // any number serves
  sign_ = fmt::format("format: sidestream-opening\nnumber: {:016x}\nprocess: {}\n", number, this_process());
  folder_.prepare();
  folder_.put(names::opening, sign_ + "state: open\n");
}

OpeningFile::~OpeningFile() {
  try {
    retry_while_out_of_memory([&] {
      const std::optional<std::string> text = folder_.text(names::opening);
      // A missing file means that the stream was announced, or that another simulation is about to start.
      if (text && text->starts_with(sign_)) folder_.put(names::opening, sign_ + "state: failed\n");
    });
  } catch (const std::exception& error) {
    log::warning("{}", error.what());
  }
}

std::string OpeningWatch::over() const {
  const std::optional<std::string> text = folder_.text(names::opening);
  if (!text) return {};  // no simulation has come, or its stream is there already
  const bool ended = line_of(*text, "state") != "open" || staging::has_ended(line_of(*text, "process"));
  return ended ? line_of(*text, "number") : "";
}

bool OpeningWatch::has_ended() const {
  const std::string number = over();
  return !number.empty() && number != earlier_;
}

}  // namespace sidestream::staging
