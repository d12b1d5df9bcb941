// Shared memory as an anonymous file (memfd) that processes map.
//
// 1. check: free memory and the limit of file sizes, since the kernel answers a shortage of either with a signal.
// 2. create: makes the file, maps it, reserves every page (fallocate), and forbids changes of its size.
// 3. adopt: another process maps the file, and checks magic, version, layout hash and size before it trusts anything.
// 4. populate: maps pages before they are used. It never changes contents, also while others write.
// Failures are errors that give sizes. Nothing stays behind, since the file has no name.
#include "transport/shared_memory/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/text.hpp"
#include "transport/shared_memory/memory_limit.hpp"
#include "transport/shared_memory/segment_receiver.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels answer EINVAL and we touch the pages ourselves
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace sidestream::shared_memory {
namespace {

constexpr std::uint64_t page = 4096;
constexpr double mib = 1024.0 * 1024.0;

/// The kernel's policy for huge pages in shared memory: the word in brackets.
std::string huge_page_policy() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string text;
  std::getline(file, text);
  const auto first = text.find('['), last = text.find(']');
  return first == std::string::npos || last == std::string::npos ? "never" : text.substr(first + 1, last - first - 1);
}

void check_free_memory(std::uint64_t bytes, std::uint64_t tables) {
  // A machine short of memory would not refuse the pages, but kill a process, not necessarily this one.
  const MemoryLeft left = memory_left();
  if (bytes > left.bytes || tables > left.bytes - bytes) {
    fail(
        Code::system,
        "shared memory of {:.1f} MiB, and {:.1f} MiB of page tables in the processes that map it, do not fit: {:.1f} MiB "
        "are left ({}); lower placement.buffer or ask for more memory per node",
        static_cast<double>(bytes) / mib, static_cast<double>(tables) / mib, static_cast<double>(left.bytes) / mib,
        left.source);
  }
  // Growing a file beyond this limit raises SIGXFSZ instead of returning an error.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    fail(Code::system,
         "shared memory of {:.1f} MiB exceeds the file size limit of this process, {:.1f} MiB; raise it with ulimit "
         "-f or lower placement.buffer",
         static_cast<double>(bytes) / mib, static_cast<double>(limit.rlim_cur) / mib);
  }
}

void reserve_pages(int descriptor, std::uint64_t bytes) {
  // In pieces: an interrupted call gives back all it had reserved, and a profiler's timer could interrupt every long
  // call.
  constexpr std::uint64_t piece = 64ull << 20;
  for (std::uint64_t at = 0; at < bytes; at += piece) {
    const auto length = static_cast<off_t>(std::min(piece, bytes - at));
    while (fallocate(descriptor, 0, static_cast<off_t>(at), length) != 0) {
      if (errno == EINTR) continue;
      fail(Code::system, "cannot reserve {:.1f} MiB of shared memory, only {:.1f} MiB: {}; lower placement.buffer",
           static_cast<double>(bytes) / mib, static_cast<double>(at) / mib, system_text(errno));
    }
  }
}

std::byte* map(int descriptor, std::uint64_t bytes, bool writable) {
  void* base = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor, 0);
  if (base == MAP_FAILED) {
    fail(Code::system,
         "cannot map {:.1f} MiB of shared memory: {}; raise the limit of this process's memory (ulimit -v) or lower "
         "placement.buffer",
         static_cast<double>(bytes) / mib, system_text(errno));
  }
  madvise(base, bytes, MADV_HUGEPAGE);  // a request that is often refused; it must come before the pages exist
  return static_cast<std::byte*>(base);
}

}  // namespace

std::uint64_t page_tables(std::uint64_t bytes) {
  const std::string policy = huge_page_policy();
  constexpr std::uint64_t huge = 2 << 20, entry = 8;
  const bool is_huge = policy == "always" || policy == "within_size" || policy == "advise" || policy == "force";
  return bytes / (is_huge ? huge : page) * entry;
}

Segment Segment::create(std::uint64_t bytes, std::uint64_t layout, const std::string& name, std::uint64_t tables) {
  if (bytes > (std::uint64_t{1} << 62)) {
    fail(Code::usage, "shared memory of {} bytes is not possible; lower placement.buffer", bytes);
  }
  const std::uint64_t whole = header_bytes + round_up(bytes, page);
  check_free_memory(whole, tables);
  Descriptor file(above_standard(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (file.get() < 0) fail(Code::system, "cannot create shared memory (memfd_create): {}", system_text(errno));
  if (ftruncate(file.get(), static_cast<off_t>(whole)) != 0) {
    fail(Code::system, "cannot make shared memory {:.1f} MiB long: {}", static_cast<double>(whole) / mib,
         system_text(errno));
  }
  std::byte* base = map(file.get(), whole, true);
  Segment segment(file.release(), base, whole, true);
  // With the policy `advise`, only pages made through the mapping are huge. If this call fails, the next one makes the
  // pages or reports why not.
  if (huge_page_policy() == "advise") madvise(base, whole, MADV_POPULATE_WRITE);
  reserve_pages(segment.descriptor(), whole);
  // From here on no process can shrink the file while others read it.
  fcntl(segment.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  const SegmentHeader header{segment_magic, segment_version, static_cast<std::uint32_t>(getpid()), layout, whole};
  std::memcpy(base, &header, sizeof header);
  return segment;
}

Segment Segment::attach(const std::string& address, std::uint64_t layout, std::chrono::milliseconds limit) {
  SegmentReceiver receiver(address, limit);
  Segment segment = adopt(receiver.receive(), layout, address, true);
  receiver.accept();
  return segment;
}

Segment Segment::adopt(int descriptor, std::uint64_t layout, const std::string& from, bool writable) {
  Descriptor file(descriptor);
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || status.st_size < static_cast<off_t>(header_bytes)) {
    fail(Code::system, "what '{}' handed over is no shared memory of Sidestream: {} bytes, expected at least {}", from,
         status.st_size, header_bytes);
  }
  const auto whole = static_cast<std::uint64_t>(status.st_size);
  std::byte* base = map(file.get(), whole, writable);
  Segment segment(file.release(), base, whole, writable);
  const SegmentHeader& header = segment.header();
  if (header.magic != segment_magic) {
    fail(Code::system,
         "what '{}' handed over is no shared memory of Sidestream: it starts with {:016x}, expected {:016x}", from,
         header.magic, segment_magic);
  }
  if (header.version != segment_version || header.layout != layout || header.bytes != whole) {
    fail(Code::system,
         "the shared memory of process {} is of version {}, layout {:016x}, {} bytes; this process expects version {}, "
         "layout {:016x}, {} bytes; run the same build of Sidestream with the same configuration on all ranks",
         header.pid, header.version, header.layout, header.bytes, segment_version, layout, whole);
  }
  return segment;
}

Segment::~Segment() { close(); }

Segment::Segment(Segment&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      writable_(other.writable_) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  if (this != &other) {
    close();
    base_ = std::exchange(other.base_, nullptr);
    mapped_ = std::exchange(other.mapped_, 0);
    descriptor_ = std::exchange(other.descriptor_, -1);
    writable_ = other.writable_;
  }
  return *this;
}

void Segment::close() noexcept {
  if (base_) munmap(base_, mapped_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Segment::populate(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return;
  if (offset > this->bytes() || bytes > this->bytes() - offset) {
    fail(Code::internal, "populating [{}, {} + {}) of a segment of {} bytes", offset, offset, bytes, this->bytes());
  }
  std::byte* first = data() + offset / page * page;
  std::byte* last = data() + round_up(offset + bytes, page);
  const int advice = writable_ ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(first, static_cast<std::size_t>(last - first), advice) == 0) return;
  if (!writable_) {
    for (std::byte* at = first; at < last; at += page) static_cast<void>(*reinterpret_cast<volatile std::byte*>(at));
    return;
  }
  // An atomic addition of zero is a write that changes nothing, also while others write.
  for (std::byte* at = first; at < last; at += page) {
    reinterpret_cast<std::atomic<std::uint32_t>*>(at)->fetch_add(0, std::memory_order_relaxed);
  }
}

}  // namespace sidestream::shared_memory
