#include "transport/shared_memory/control.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/process_status.hpp"

namespace sidestream::shared_memory {

void StatusText::post(const std::string& text) noexcept {
  std::size_t length = std::min(text.size(), capacity);
  // Does not cut a character in two: continuation bytes of UTF-8 are 10xxxxxx.
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  const std::uint32_t before = sequence_.load(std::memory_order_relaxed) | 1;  // odd already: a writer died here
  sequence_.store(before, std::memory_order_relaxed);
  // Release stores: a reader that sees one of these words also sees the odd number, and drops what it read.
  length_.store(static_cast<std::uint32_t>(length), std::memory_order_release);
  for (std::size_t at = 0; at < length; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, length - at));
    words_[at / 8].store(word, std::memory_order_release);
  }
  sequence_.store(before + 1, std::memory_order_release);
}

std::string StatusText::read() const {
  // A living writer is done in a microsecond; a dead one must not block the reader.
  for (int tries = 0; tries < 1000; ++tries) {
    const std::uint32_t before = sequence_.load(std::memory_order_acquire);
    if (before == 0) return {};
    if (before & 1) continue;
    const std::size_t length = std::min<std::size_t>(length_.load(std::memory_order_acquire), capacity);
    std::string text(length, '\0');
    for (std::size_t at = 0; at < length; at += 8) {
      const std::uint64_t word = words_[at / 8].load(std::memory_order_acquire);
      std::memcpy(text.data() + at, &word, std::min<std::size_t>(8, length - at));
    }
    if (sequence_.load(std::memory_order_relaxed) == before) return text;
  }
  return {};
}

std::uint64_t pid_namespace() noexcept {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

void Liveness::start() noexcept {
  space.store(pid_namespace(), std::memory_order_relaxed);
  pid.store(getpid(), std::memory_order_release);
}

bool Liveness::alive() const noexcept {
  const int id = pid.load(std::memory_order_acquire);
  if (id == 0 || space.load(std::memory_order_relaxed) != pid_namespace()) return true;
  if (kill(id, 0) != 0 && errno == ESRCH) return false;
  return process_status(id).state != 'Z';
}

bool ServerControl::end(std::int64_t index, std::uint32_t clients) noexcept {
  // The iteration's number is part of the word, so that counts need no reset: the server may be done with an iteration
  // before its last client gets here.
  const std::uint64_t fresh = static_cast<std::uint64_t>(index + 1) << 16;
  std::atomic<std::uint64_t>& word = ended[index % slots];
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  std::uint64_t mine = 0;
  do {
    if ((seen >> 16) > (fresh >> 16)) return false;  // released long ago: the server needs no bell for it
    mine = ((seen >> 16) == (fresh >> 16) ? seen : fresh) + 1;
    // Every client's record must be visible to the client that rings: hence acquire, and release for the others.
  } while (!word.compare_exchange_weak(seen, mine, std::memory_order_acq_rel, std::memory_order_relaxed));
  return (mine & 0xffff) == clients && bell.ring();
}

void ClientControl::announce(std::int64_t index, Outcome outcome) noexcept {
  outcomes[index % slots].store(static_cast<std::uint8_t>(outcome), std::memory_order_relaxed);
  decided.store(index + 1, std::memory_order_release);
  space.ring();
}

void ClientControl::release(std::int64_t index) noexcept {
  released.store(index + 1, std::memory_order_release);
  space.ring();
}

Outcome ClientControl::outcome(std::int64_t index) const noexcept {
  if (decided.load(std::memory_order_acquire) <= index) return Outcome::pending;
  return static_cast<Outcome>(outcomes[index % slots].load(std::memory_order_relaxed));
}

ControlLayout control_layout(std::uint32_t clients, std::uint32_t servers, std::uint64_t ring_capacity,
                             std::uint64_t record_bytes, std::uint64_t arena_bytes) noexcept {
  ControlLayout layout;
  layout.clients = clients;
  layout.servers = servers;
  layout.ring_capacity = std::bit_ceil(std::max<std::uint64_t>(ring_capacity, 2));
  layout.record_bytes = record_bytes;
  layout.clients_at = layout.servers_at + servers * sizeof(ServerControl);
  layout.rings_at = layout.clients_at + clients * sizeof(ClientControl);
  layout.notices_at = sizeof(RingIndices) + round_up(layout.ring_capacity * record_bytes, 128);
  layout.ring_stride = layout.notices_at + ring_bytes<MessageLine>(notice_lines);
  layout.bytes = round_up(layout.rings_at + clients * layout.ring_stride, 4096);
  Hash hash;
  for (const std::uint64_t value : {std::uint64_t{slots},
                                    std::uint64_t{sizeof(ServerControl)},
                                    std::uint64_t{sizeof(ClientControl)},
                                    std::uint64_t{offsetof(ServerControl, ended)},
                                    std::uint64_t{offsetof(ServerControl, liveness)},
                                    std::uint64_t{offsetof(ServerControl, failure)},
                                    std::uint64_t{offsetof(ClientControl, space)},
                                    std::uint64_t{offsetof(ClientControl, liveness)},
                                    std::uint64_t{offsetof(ClientControl, joined)},
                                    std::uint64_t{sizeof(RingIndices)},
                                    std::uint64_t{clients},
                                    std::uint64_t{servers},
                                    layout.ring_capacity,
                                    std::uint64_t{message_version},
                                    std::uint64_t{sizeof(BlockRecord)},
                                    std::uint64_t{sizeof(EndRecord)},
                                    notice_lines,
                                    record_bytes,
                                    layout.bytes,
                                    arena_bytes}) {
    hash.add(value);
  }
  layout.hash = hash.value();
  return layout;
}

}  // namespace sidestream::shared_memory
