// Blocks that find no space in the buffer go through a file of the client that its server reads back.
//
// 1. SpillPlaces divides the file as a ring. A place is free when its iteration, and all before it, are released.
// 2. reserve: takes a place and grows the file there before anything is written, so that a full disk refuses a
//    reservation and never breaks a write. The client fills ordinary memory.
// 3. commit: writes header, values and their checksums.
// 4. SpillReader::load: opens the file by its path, and checks both checksums and that it is the block of that
//    iteration. The first fault ends loading and is returned.
// Files are locked while in use: prepare_spill_folder removes those that killed runs have left.
#include "transport/shared_memory/spill/spill_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <random>

#include "base/checksum.hpp"
#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "base/run_log.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream::shared_memory {

namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t step = 4ull << 20;  ///< smallest growth of the file; growing it for each block would cost time

std::uint64_t place_bytes(std::uint64_t bytes) { return round_up(sizeof(SpillHeader) + bytes, alignment); }

/// Checks the file size limit, since growing a file beyond it raises a signal instead of returning an error.
void check_limit(std::uint64_t size) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur) return;
  fail(Code::system,
       "'when_full: spill' may write {} bytes to a file, which exceeds the file size limit of this process, {} bytes; "
       "raise it with ulimit -f or lower placement.spill.size",
       size, limit.rlim_cur);
}

void write_all(int file, std::uint64_t offset, std::span<const std::byte> head, std::span<const std::byte> values,
               const std::string& path) {
  while (!head.empty() || !values.empty()) {
    const std::array<iovec, 2> parts{iovec{const_cast<std::byte*>(head.data()), head.size()},
                                     iovec{const_cast<std::byte*>(values.data()), values.size()}};
    const ssize_t wrote = pwritev(file, parts.data(), 2, static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      fail(Code::system, "cannot write {} bytes to '{}' (when_full: spill): {}; the iteration is refused",
           head.size() + values.size(), path, system_text(wrote < 0 ? errno : ENOSPC));
    }
    const auto done = static_cast<std::size_t>(wrote);
    const std::size_t of_head = std::min(done, head.size());
    head = head.subspan(of_head);
    values = values.subspan(done - of_head);
    offset += done;
  }
}

}  // namespace

AlignedBytes aligned_bytes(std::uint64_t bytes) {
  return AlignedBytes(
      static_cast<std::byte*>(::operator new[](std::max<std::uint64_t>(bytes, 1), std::align_val_t(64))));
}

SpillFile::SpillFile(const std::string& directory, std::uint64_t size) : places_(size / alignment * alignment) {
  check_limit(size);
  OwnedFile made = create_spill_file(directory);
  file_ = std::move(made.descriptor);
  path_ = std::move(made.path);
}

SpillFile::~SpillFile() { unlink(path_.c_str()); }

bool SpillFile::fits(std::uint64_t bytes) const noexcept {
  return bytes <= places_.size() && place_bytes(bytes) <= places_.size();
}

/// Grows the file. Disk blocks are allocated before they are written, so that a full disk is never an error of a write.
bool SpillFile::grow(std::uint64_t end) {
  if (end <= grown_) return true;
  const FileSizeSignalHeld held;
  for (const std::uint64_t to : {std::min(places_.size(), round_up(end, step)), end}) {
    if (to <= grown_) continue;
    int error = EINTR;
    while (error == EINTR) {
      error = posix_fallocate(file_.get(), static_cast<off_t>(grown_), static_cast<off_t>(to - grown_));
    }
    if (error == 0) {
      grown_ = to;
      return true;
    }
    if (to != end) continue;
    if (!full_said_) {
      const LogScope scope(log_);
      log::warning("spill: '{}' cannot grow beyond {} bytes: {}; the simulation waits for room instead", path_, grown_,
                   system_text(error));
    }
    full_said_ = true;
  }
  return false;
}

std::byte* SpillFile::take_memory(std::uint64_t bytes, std::uint64_t& capacity) {
  AlignedBytes memory;
  const auto idle = memory_->idle.lower_bound(bytes);
  if (idle != memory_->idle.end() && idle->first <= 2 * std::max<std::uint64_t>(bytes, alignment)) {
    capacity = idle->first;
    memory = std::move(idle->second);
    memory_->idle.erase(idle);
  } else {
    capacity = std::max(bytes, alignment);
    memory = aligned_bytes(capacity);
  }
  std::byte* const data = memory.get();
  memory_->used.emplace(data, std::move(memory));
  return data;
}

std::optional<Region> SpillFile::reserve(std::uint64_t bytes) {
  if (!fits(bytes)) return std::nullopt;
  const std::optional<std::uint64_t> offset = places_.take(place_bytes(bytes));
  if (!offset) return std::nullopt;
  try {
    if (grow(*offset + place_bytes(bytes))) {
      Entry entry{*offset, bytes, 0, false};
      std::byte* const data = take_memory(bytes, entry.capacity);
      try {
        regions_.emplace(data, entry);
      } catch (...) {
        memory_->used.erase(data);
        throw;
      }
      return Region{data, bytes, 0};
    }
  } catch (const std::bad_alloc&) {
    // Memory counts as room too: this block waits for it.
  }
  places_.give_back(*offset);
  return std::nullopt;
}

std::uint64_t SpillFile::commit(const BlockRecord& record, const Region& region, bool hold, std::int64_t iteration) {
  Entry& entry = regions_.at(region.data);
  if (entry.committed) fail(Code::internal, "a region is committed twice");
  const std::span<const std::byte> values(region.data, entry.bytes);
  SpillHeader header{spill_magic, iteration, record.block.id, record.variable, 0, entry.bytes, checksum_of(values),
                     0,           0};
  const auto whole = std::as_bytes(std::span(&header, 1));
  header.header = checksum_of(whole.first(offsetof(SpillHeader, header)));
  const FileSizeSignalHeld held;
  write_all(file_.get(), entry.offset, whole, values, path_);
  written_ += entry.bytes;
  entry.committed = true;
  const std::uint64_t offset = entry.offset;
  places_.commit(offset, iteration);
  if (!hold) free_region(region.data);
  return offset;
}

void SpillFile::clear(const Region& region) {
  const Entry& entry = regions_.at(region.data);
  if (!entry.committed) places_.give_back(entry.offset);
  free_region(region.data);
}

void SpillFile::free_region(const std::byte* data) {
  const auto found = memory_->used.find(data);
  constexpr std::size_t most_idle = 4;
  if (memory_->idle.size() < most_idle) {
    memory_->idle.insert_or_assign(regions_.at(data).capacity, std::move(found->second));
  }
  memory_->used.erase(found);
  regions_.erase(data);
}

std::optional<std::uint64_t> SpillPlaces::take(std::uint64_t bytes) {
  std::uint64_t begin = 0;
  if (!places_.empty()) {
    const std::uint64_t oldest = places_.front().begin, end = places_.back().end;
    const bool wrapped = places_.back().begin < oldest;
    const std::uint64_t limit = wrapped ? oldest : size_;
    begin = end;
    if (bytes > limit - end) {
      if (wrapped || bytes > oldest) return std::nullopt;
      begin = 0;
    }
  } else if (bytes > size_) {
    return std::nullopt;
  }
  places_.push_back({begin, begin + bytes, open});
  return begin;
}

SpillPlaces::Place& SpillPlaces::at(std::uint64_t offset) {
  const auto found =
      std::find_if(places_.rbegin(), places_.rend(), [&](const Place& place) { return place.begin == offset; });
  if (found == places_.rend()) fail(Code::internal, "nothing was put at {} of a spill file", offset);
  return *found;
}

void SpillPlaces::commit(std::uint64_t offset, std::int64_t iteration) { at(offset).iteration = iteration; }

void SpillPlaces::give_back(std::uint64_t offset) {
  at(offset).iteration = unused;
  while (!places_.empty() && places_.back().iteration == unused) places_.pop_back();
  trim();
}

void SpillPlaces::release_upto(std::int64_t count) {
  if (count <= released_) return;
  released_ = count;
  trim();
}

void SpillPlaces::trim() {
  while (!places_.empty() && places_.front().iteration < released_) places_.pop_front();
}

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

namespace {

void read_all(int file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t got = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      fail(Code::system, "cannot read {} bytes at {} of '{}', which a client spilled: {}", bytes.size(), offset, path,
           got < 0 ? system_text(errno) : "the file ends there");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

void SpillReader::add(std::int64_t iteration, std::size_t client, std::uint64_t offset, std::size_t number) {
  waiting_[iteration].push_back({client, offset, number});
}

int SpillReader::file_of(std::size_t client, const std::string& path) {
  const auto known = files_.find(client);
  if (known != files_.end()) return known->second.get();
  Descriptor file(open_existing(path, O_RDONLY));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    fail(Code::system, "cannot open '{}', into which a client spilled: {}; servers must see placement.spill.directory",
         path, system_text(errno));
  }
  if (status.st_uid != geteuid()) fail(Code::system, "'{}', into which a client spilled, is another user's", path);
  return files_.emplace(client, std::move(file)).first->second.get();
}

void SpillReader::read(const Entry& entry, std::int64_t iteration, Inbox& inbox, const std::string& path) {
  Arrival& arrival = inbox.blocks.at(entry.number);
  const int file = file_of(entry.client, path);
  SpillHeader header;
  const auto whole = std::as_writable_bytes(std::span(&header, 1));
  read_all(file, entry.offset, whole, path);
  const auto damaged = [&](const char* what) {
    fail(Code::system, "'{}', into which a client spilled, has {} at {} for block {} of iteration {}: it is damaged",
         path, what, entry.offset, arrival.record.block.id, iteration);
  };
  if (header.magic != spill_magic ||
      header.header != checksum_of(std::span<const std::byte>(whole).first(offsetof(SpillHeader, header)))) {
    damaged("no block");
  }
  if (header.iteration != iteration || header.block != arrival.record.block.id ||
      header.variable != arrival.record.variable || header.bytes != arrival.record.bytes) {
    damaged("another block");
  }
  AlignedBytes values = aligned_bytes(header.bytes);
  read_all(file, entry.offset + sizeof header, {values.get(), header.bytes}, path);
  if (checksum_of({values.get(), header.bytes}) != header.values) damaged("values whose checksum does not fit");
  const std::byte* const data = values.get();
  loaded_[iteration].push_back(std::move(values));
  arrival.data = data;
}

std::string SpillReader::load(std::int64_t iteration, Inbox& inbox,
                              const std::function<std::string(std::size_t client)>& path_of) {
  const auto found = waiting_.find(iteration);
  if (found == waiting_.end()) return {};
  std::vector<Entry>& entries = found->second;
  std::string wrong;
  for (; !entries.empty() && wrong.empty(); entries.pop_back()) {
    try {
      read(entries.back(), iteration, inbox, path_of(entries.back().client));
    } catch (const Error& error) {
      wrong = error.what();
    }
  }
  waiting_.erase(found);
  return wrong;
}

}  // namespace sidestream::shared_memory
