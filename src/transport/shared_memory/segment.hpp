// Memory that several processes of one node map: created by one, handed to the others over a socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sidestream::shared_memory {

/// Header of every segment, checked before anything else is trusted.
struct SegmentHeader {
  std::uint64_t magic;    ///< segment_magic
  std::uint32_t version;  ///< segment_version
  std::uint32_t pid;      ///< process id of the creator
  std::uint64_t layout;   ///< hash of everything the two sides must agree on; see control.hpp
  std::uint64_t bytes;    ///< bytes of the whole segment, including this header's page
};
inline constexpr std::uint64_t segment_magic = 0x6d61657274736473ull;  // "sdstream"
inline constexpr std::uint32_t segment_version = 1;

/// One mapped segment. Movable; unmaps and closes in the destructor. The kernel frees the memory when the last process
/// that maps it has ended, in whatever way. So a crash leaves nothing to clean up, and there is no name in /dev/shm.
class Segment {
 public:
  /// Creates a segment with `bytes` usable bytes, all zero. `name` appears in /proc/PID/maps. Every page is reserved
  /// here, so that shortage is an Error(system) with sizes now and not a SIGBUS later. `tables`: bytes of page tables
  /// that all processes need to map it; there must be room for them too.
  [[nodiscard]] static Segment create(std::uint64_t bytes, std::uint64_t layout, const std::string& name,
                                      std::uint64_t tables = 0);

  /// Maps the segment that a SegmentSender offers at `address`, which must belong to a process of this user with the
  /// same layout hash. Throws Error(system) saying which of these failed, or after `limit`.
  [[nodiscard]] static Segment attach(const std::string& address, std::uint64_t layout,
                                      std::chrono::milliseconds limit);

  /// Maps a descriptor that arrived in another way, and takes ownership of it. `from` names its origin in messages.
  /// Without `writable` this process can never write to it. Throws Error(system) if it is not a segment with this
  /// layout hash.
  [[nodiscard]] static Segment adopt(int descriptor, std::uint64_t layout, const std::string& from, bool writable);

  Segment() = default;
  ~Segment();
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// First usable byte, aligned to 4096; null if empty.
  [[nodiscard]] std::byte* data() const noexcept { return base_ ? base_ + header_bytes : nullptr; }
  /// Usable bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return base_ ? mapped_ - header_bytes : 0; }
  /// The memfd, owned by the segment.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const SegmentHeader& header() const noexcept { return *reinterpret_cast<const SegmentHeader*>(base_); }

  /// Maps [offset, offset + bytes) of the usable part into this process' page tables, so that the first publish takes
  /// no page fault. Values do not change; others may be writing. Costs `page_tables` bytes in every process, so call it
  /// only for memory that the process will use.
  void populate(std::uint64_t offset, std::uint64_t bytes) const;

  static constexpr std::uint64_t header_bytes = 4096;

 private:
  Segment(int descriptor, std::byte* base, std::uint64_t mapped, bool writable) noexcept
      : base_(base), mapped_(mapped), descriptor_(descriptor), writable_(writable) {}
  void close() noexcept;

  std::byte* base_ = nullptr;
  std::uint64_t mapped_ = 0;
  int descriptor_ = -1;
  bool writable_ = true;
};

/// Bytes of page tables for `bytes` bytes in one process: 8 for each 4 KiB, or for each 2 MiB where the kernel gives
/// huge pages for shared memory (shmem_enabled is `always`, `within_size` or `advise`).
[[nodiscard]] std::uint64_t page_tables(std::uint64_t bytes);

/// Offers a segment to other processes of this node and this user.
///
///   creator                                    attachers
///   SegmentSender sender(segment, 7);
///   (address goes to the others, by MPI)  -->  Segment::attach(address, layout, limit)
///   sender.send(limit);
class SegmentSender {
 public:
  /// Listens at once, so that the address may be sent before `send` is called. `segment` must outlive this object.
  SegmentSender(const Segment& segment, int attachers);
  ~SegmentSender();
  SegmentSender(const SegmentSender&) = delete;
  SegmentSender& operator=(const SegmentSender&) = delete;

  /// Name in the abstract socket namespace, without a file: 128 random bits in hexadecimal.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// Hands the segment to all attachers. Rejects callers of another user and does not count them. Throws Error(system)
  /// after `limit`, saying how many of how many came.
  void send(std::chrono::milliseconds limit);

 private:
  const Segment& segment_;
  std::string address_;
  int attachers_ = 0;
  int listener_ = -1;
};

}  // namespace sidestream::shared_memory
