#include "transport/shared_memory/arena.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::shared_memory {
namespace {

constexpr std::uint64_t arena_page = 4096;
constexpr std::uint64_t arena_magic = 0x616e657261736473ull;  // "sdsarena"
constexpr std::uint64_t most_chunks = 8192;
constexpr double mebibyte = 1024.0 * 1024.0;

/// One client's extents, and their offset from the arena's begin.
struct Entry {
  Extents extents;
  std::uint64_t at;
};

struct Table {
  std::uint64_t magic, bytes;
  std::uint64_t clients;
  std::uint64_t owners_at, pool_at;
  std::uint64_t chunks, chunk_bytes;
};

Table& table(std::byte* memory) { return *reinterpret_cast<Table*>(memory); }
Entry* entries(std::byte* memory) { return reinterpret_cast<Entry*>(memory + sizeof(Table)); }

Extents rounded(const Extents& wanted) noexcept {
  return {round_up(wanted.home, arena_page), wanted.homes, 0, round_up(wanted.keep, arena_page)};
}

std::uint64_t own_bytes(const Extents& extents) { return extents.homes * extents.home + extents.keep; }

/// Small enough that small pools have many chunks, large enough that taking a run costs little compared with filling
/// it.
std::uint64_t chunk_size(std::uint64_t bytes) noexcept {
  return std::max<std::uint64_t>(64 << 10, std::bit_ceil(bytes / most_chunks));
}

std::uint64_t table_bytes(std::uint64_t clients) noexcept {
  return round_up(sizeof(Table) + clients * sizeof(Entry) + most_chunks * sizeof(std::uint16_t), arena_page);
}

}  // namespace

std::uint64_t home_footprint(std::span<const std::uint64_t> block_bytes) noexcept {
  std::uint64_t small = 0, large = 0;
  for (const std::uint64_t bytes : block_bytes) {
    const std::uint64_t footprint = block_footprint(bytes);
    (footprint % arena_page == 0 ? large : small) += footprint;
  }
  return round_up(small, arena_page) + large;
}

std::uint64_t Arena::minimum_bytes(std::span<const Extents> clients) noexcept {
  std::uint64_t bytes = table_bytes(clients.size());
  for (const Extents& extents : clients) bytes += own_bytes(rounded(extents));
  return bytes;
}

void Arena::create(std::byte* memory, std::uint64_t bytes, std::span<const Extents> clients) {
  const std::uint64_t least = minimum_bytes(clients);
  if (bytes < least) {
    fail(Code::full,
         "the buffer of {:.1f} MiB is smaller than one iteration of the {} clients of this node, {:.1f} MiB; "
         "set "
         "placement.buffer to at least {} KiB",
         static_cast<double>(bytes) / mebibyte, clients.size(), static_cast<double>(least) / mebibyte,
         (least + 1023) / 1024);
  }
  if (clients.size() > 65534) fail(Code::usage, "{} clients on one node; at most 65534 are possible", clients.size());
  Table& header = table(memory);
  header.bytes = bytes;
  header.clients = clients.size();
  header.owners_at = sizeof(Table) + clients.size() * sizeof(Entry);
  header.chunk_bytes = chunk_size(bytes);
  std::uint64_t at = table_bytes(clients.size());
  for (std::size_t n = 0; n < clients.size(); ++n) {
    const Entry entry{rounded(clients[n]), at};
    std::memcpy(entries(memory) + n, &entry, sizeof entry);
    at += own_bytes(entry.extents);
  }
  header.pool_at = at;
  header.chunks = (bytes - at) / header.chunk_bytes;
  header.magic = arena_magic;
}

Arena::Arena(std::byte* memory) : memory_(memory) {
  const Table& header = table(memory);
  if (header.magic != arena_magic) {
    fail(Code::system, "the shared buffer starts with {:016x}, expected {:016x}: it was not laid out", header.magic,
         arena_magic);
  }
  bytes_ = header.bytes;
  pool_ = memory + header.pool_at;
  chunks_ = header.chunks;
  chunk_bytes_ = header.chunk_bytes;
  owners_ = reinterpret_cast<std::atomic<std::uint16_t>*>(memory + header.owners_at);
}

bool Arena::take(int client, std::uint64_t first, std::uint64_t chunks, std::uint64_t& blocked) noexcept {
  const auto name = static_cast<std::uint16_t>(client + 1);
  for (std::uint64_t n = first; n < first + chunks; ++n) {
    std::uint16_t nobody = 0;
    // Acquire: the previous owner's server must have finished reading before we write.
    if (owners_[n].compare_exchange_strong(nobody, name, std::memory_order_acquire, std::memory_order_relaxed))
      continue;
    give_back(client, first, n - first);
    blocked = n;
    return false;
  }
  return true;
}

std::optional<std::uint64_t> Arena::scan(int client, std::uint64_t chunks, std::uint64_t from, std::uint64_t to,
                                         bool& disturbed) noexcept {
  std::uint64_t run = 0;
  for (std::uint64_t n = from; n < to; ++n) {
    run = owners_[n].load(std::memory_order_relaxed) == 0 ? run + 1 : 0;
    if (run < chunks) continue;
    const std::uint64_t first = n + 1 - chunks;
    if (take(client, first, chunks, n)) return first;
    disturbed = true;
    run = 0;  // continue behind the chunk that another client took first
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Arena::borrow(int client, std::uint64_t chunks, std::uint64_t hint) noexcept {
  if (chunks == 0 || chunks > chunks_) return std::nullopt;
  if (hint >= chunks_) hint = 0;
  bool disturbed = false;
  auto found = scan(client, chunks, hint, chunks_, disturbed);
  // Runs that cross the hint are found by this second scan.
  if (!found && hint > 0) found = scan(client, chunks, 0, std::min(chunks_, hint + chunks - 1), disturbed);
  // Two clients that collide both continue behind each other; this scan searches the skipped chunks again.
  if (!found && disturbed) found = scan(client, chunks, 0, chunks_, disturbed);
  return found;
}

void Arena::give_back(int client, std::uint64_t first, std::uint64_t chunks) noexcept {
  const auto name = static_cast<std::uint16_t>(client + 1);
  for (std::uint64_t n = first; n < std::min(first + chunks, chunks_); ++n) {
    std::uint16_t mine = name;
    owners_[n].compare_exchange_strong(mine, 0, std::memory_order_release, std::memory_order_relaxed);
  }
}

int Arena::clients() const noexcept { return static_cast<int>(table(memory_).clients); }

Extents Arena::extents(int client) const noexcept { return entries(memory_)[client].extents; }

std::byte* Arena::home(int client, std::uint32_t n) const noexcept {
  const Entry& entry = entries(memory_)[client];
  return memory_ + entry.at + n * entry.extents.home;
}

std::byte* Arena::keep(int client) const noexcept {
  const Entry& entry = entries(memory_)[client];
  return memory_ + entry.at + entry.extents.homes * entry.extents.home;
}

}  // namespace sidestream::shared_memory
