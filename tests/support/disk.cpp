// Replaces calls of the C library in the program that this is linked into. A definition in a program precedes one in a
// shared library.
#include "support/disk.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <optional>

namespace {

using sidestream::testing::DiskOperation;
using What = DiskOperation::What;

struct State {
  std::string directory;
  std::vector<DiskOperation> operations;
  std::uint64_t room = ~std::uint64_t{0};
  std::uint64_t flushes = 0;
  bool was_full = false;
};
State* state = nullptr;  // state of the only disk that is watched

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u + static_cast<std::uint64_t>(time.tv_nsec);
}

/// The name of a file in the watched directory, empty for the directory itself, or nothing for other files.
std::optional<std::string> watched(const std::string& path) {
  if (state == nullptr || !path.starts_with(state->directory)) return {};
  if (path.size() == state->directory.size()) return "";
  if (path[state->directory.size()] != '/') return {};
  return path.substr(state->directory.size() + 1);
}

std::optional<std::string> watched(int descriptor) {
  if (state == nullptr) return {};
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length > 0 ? watched(std::string(path.data(), static_cast<std::size_t>(length))) : std::nullopt;
}

void record(What what, const std::string& file, std::uint64_t offset = 0, std::string bytes = {}) {
  state->operations.push_back({what, now(), offset, file, std::move(bytes)});
}

int full() {
  state->was_full = true;
  errno = ENOSPC;
  return -1;
}

/// Writes as much as there is room for.
ssize_t write_at(int descriptor, const std::string& file, const void* data, std::size_t size, off_t offset) {
  if (size > 0 && state->room == 0) return full();
  const std::size_t some = state->room < size ? static_cast<std::size_t>(state->room) : size;
  const ssize_t written = real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, data, some, offset);
  if (written <= 0) return written;
  if (state->room != ~std::uint64_t{0}) state->room -= static_cast<std::uint64_t>(written);
  record(What::write, file, static_cast<std::uint64_t>(offset),
         {static_cast<const char*>(data), static_cast<std::size_t>(written)});
  return written;
}

}  // namespace

#define EXPORTED __attribute__((visibility("default")))

extern "C" {

EXPORTED int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const auto mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  const auto file = watched(std::string(path));
  const auto open_it = real<int(const char*, int, ...)>("open");
  if (!file || !(flags & O_CREAT)) return open_it(path, flags, mode);
  const bool is_new = ::access(path, F_OK) != 0;
  if (is_new && state->room == 0) return full();
  const int descriptor = open_it(path, flags, mode);
  if (descriptor < 0) return descriptor;
  if (is_new && state->room != ~std::uint64_t{0}) --state->room;
  if (is_new) record(What::create, *file);
  if (!is_new && flags & O_TRUNC) record(What::cut, *file);
  return descriptor;
}

EXPORTED ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  const auto file = watched(descriptor);
  if (!file) return real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, data, size, offset);
  return write_at(descriptor, *file, data, size, offset);
}

EXPORTED int ftruncate(int descriptor, off_t size) noexcept {
  const int result = real<int(int, off_t)>("ftruncate")(descriptor, size);
  const auto file = watched(descriptor);
  if (file && result == 0) record(What::cut, *file, static_cast<std::uint64_t>(size));
  return result;
}

EXPORTED int fsync(int descriptor) {
  const auto file = watched(descriptor);
  if (!file) return real<int(int)>("fsync")(descriptor);
  // Nothing is really flushed. Tests of a loss of power read the record.
  if (state->flushes > 0 && --state->flushes == 0) {
    state->flushes = 1;
    errno = EIO;
    return -1;
  }
  record(file->empty() ? What::flush_names : What::flush, *file);
  return 0;
}

EXPORTED int rename(const char* from, const char* to) noexcept {
  const int result = real<int(const char*, const char*)>("rename")(from, to);
  const auto old_name = watched(std::string(from)), new_name = watched(std::string(to));
  if (old_name && new_name && result == 0) record(What::rename, *old_name, 0, *new_name);
  return result;
}

EXPORTED int unlink(const char* path) noexcept {
  const int result = real<int(const char*)>("unlink")(path);
  const auto file = watched(std::string(path));
  if (file && result == 0) record(What::remove, *file);
  return result;
}

EXPORTED int remove(const char* path) noexcept {
  const int result = real<int(const char*)>("remove")(path);
  const auto file = watched(std::string(path));
  if (file && result == 0) record(What::remove, *file);
  return result;
}

}  // extern "C"

namespace sidestream::testing {

WatchedDisk::WatchedDisk(const std::string& directory) { state = new State{directory, {}}; }

WatchedDisk::~WatchedDisk() {
  delete state;
  state = nullptr;
}

void WatchedDisk::set_room(std::uint64_t bytes) {
  state->room = bytes;
  state->was_full = false;
}

void WatchedDisk::set_endless_room() { state->room = ~std::uint64_t{0}; }
bool WatchedDisk::was_full() { return state->was_full; }
void WatchedDisk::fail_flush(std::uint64_t n) { state->flushes = n; }
void WatchedDisk::note(const std::string& text, std::uint64_t number) { record(What::note, text, number); }
std::vector<DiskOperation> WatchedDisk::take() { return std::exchange(state->operations, {}); }

}  // namespace sidestream::testing
