// Anonymous shared memory that processes pass to each other as a descriptor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sidestream/kit/base/files.hpp"

namespace sidestream {

/// A mapped memory object. Movable; unmaps and closes in the destructor. The kernel frees it when the last process that
/// has it ends, however it ends.
class MemoryObject {
 public:
  MemoryObject() = default;
  /// Creates an empty one. `name` appears in /proc/PID/maps. Throws Error(system).
  [[nodiscard]] static MemoryObject create(const char* name);
  /// Maps an object of another process, `bytes` from `offset` on. Without `writable` this process cannot change it.
  /// Throws Error(system), also if it is shorter.
  [[nodiscard]] static MemoryObject adopt(Descriptor descriptor, std::uint64_t offset, std::uint64_t bytes,
                                          bool writable);
  ~MemoryObject() { unmap(); }
  MemoryObject(MemoryObject&& other) noexcept;
  MemoryObject& operator=(MemoryObject&& other) noexcept;
  MemoryObject(const MemoryObject&) = delete;
  MemoryObject& operator=(const MemoryObject&) = delete;

  /// Makes an object from `create` at least that long. Pages are reserved, so that shortage is an Error(system) here
  /// and not a SIGBUS later. The content is kept, at another address. Returns true if it has become longer.
  bool grow(std::uint64_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  void map(std::uint64_t offset, std::uint64_t bytes, bool writable);
  void unmap() noexcept;

  Descriptor descriptor_;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// A descriptor of the same object for a process that must not change it. Throws Error(system).
[[nodiscard]] Descriptor read_only(int descriptor);

}  // namespace sidestream
