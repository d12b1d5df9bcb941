#include "transport/shared_memory/memory_limit.hpp"

#include <fmt/format.h>
#include <time.h>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/mpi/agree.hpp"
#include "transport/shared_memory/segment_receiver.hpp"

namespace sidestream::shared_memory {
namespace {

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;  // "max" of version 2 is not a number: no limit
  return std::nullopt;
}

/// Value after `key` in lines of "key value"; 0 if there is none.
std::uint64_t read_entry(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line, name;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::uint64_t value = 0;
    if (words >> name >> value && name == key) return value;
  }
  return 0;
}

void lower(MemoryLeft& left, std::uint64_t bytes, const std::string& source) {
  if (bytes < left.bytes) left = {bytes, source};
}

struct GroupFiles {
  const char *limit, *used, *inactive, *active;  ///< file names, and keys of memory.stat
};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                               "total_active_file"};

/// Applies the limits of all control groups from `group` up to the root of the hierarchy.
void lower_by_group(MemoryLeft& left, const std::string& mount, std::string group, const GroupFiles& files) {
  for (;;) {
    const std::string folder = mount + group + "/";
    const auto limit = read_number(folder + files.limit);
    const auto used = read_number(folder + files.used);
    if (limit && used) {
      const std::uint64_t cache =
          read_entry(folder + "memory.stat", files.inactive) + read_entry(folder + "memory.stat", files.active);
      const std::uint64_t needed = *used > cache ? *used - cache : 0;
      lower(left, *limit > needed ? *limit - needed : 0, folder + files.limit);
    }
    const auto cut = group.rfind('/');
    if (group.empty() || cut == std::string::npos) return;
    group.resize(cut);
  }
}

}  // namespace

MemoryLeft memory_left(const std::string& root) {
  MemoryLeft left;
  if (const auto kib = read_entry(root + "/proc/meminfo", "MemAvailable:"); kib > 0) {
    lower(left, kib * 1024, "the machine");
  }
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {  // "id:controllers:/path"
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") lower_by_group(left, root + "/sys/fs/cgroup", group, version_2);
    if (controllers.find(",memory,") != std::string::npos) {
      lower_by_group(left, root + "/sys/fs/cgroup/memory", group, version_1);
    }
  }
  return left;
}

namespace {

constexpr std::uint64_t layout = 0x74696d696c647331ull;
constexpr std::int64_t wanted_for_ns = 50'000'000;

/// CLOCK_MONOTONIC in nanoseconds, the same clock in all processes of a node.
std::int64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

SharedLimit::SharedLimit(Communicator& node, std::uint64_t bytes) : all_(bytes) {
  const bool creator = node.rank() == 0;
  Segment own;
  run_collectively(node, [&] {
    if (!creator) return;
    own = Segment::create(sizeof(Words), layout, "sidestream-limit");
    reinterpret_cast<Words*>(own.data())->left.store(bytes);
  });
  segment_ = share_segment(node, creator, std::move(own), layout);
}

bool SharedLimit::borrow(std::uint64_t bytes) noexcept {
  std::uint64_t left = words().left.load(std::memory_order_relaxed);
  while (left >= bytes) {
    if (words().left.compare_exchange_weak(left, left - bytes, std::memory_order_acq_rel)) return true;
  }
  words().wanted_until.store(now_ns() + wanted_for_ns, std::memory_order_relaxed);
  return false;
}

void SharedLimit::give_back(std::uint64_t bytes) noexcept { words().left.fetch_add(bytes, std::memory_order_acq_rel); }

bool SharedLimit::wanted() const noexcept {
  const std::int64_t until = words().wanted_until.load(std::memory_order_relaxed);
  return until != 0 && now_ns() < until;
}

}  // namespace sidestream::shared_memory
