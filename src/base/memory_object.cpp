#include "base/memory_object.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {
constexpr std::uint64_t page = 4096;
}

MemoryObject MemoryObject::create(const char* name) {
  MemoryObject made;
  made.descriptor_ = Descriptor(above_standard(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (made.descriptor() < 0) {
    fail(Code::system, "cannot create a memory object (memfd_create): {}", system_text(errno));
  }
  // The seal keeps others from truncating pages that somebody reads.
  fcntl(made.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK);
  return made;
}

MemoryObject MemoryObject::adopt(Descriptor descriptor, std::uint64_t offset, std::uint64_t bytes, bool writable) {
  struct stat status {};
  if (fstat(descriptor.get(), &status) != 0 || static_cast<std::uint64_t>(status.st_size) < offset + bytes) {
    fail(Code::system, "a memory object of {} bytes came, expected {} from {} on; use one build of Sidestream",
         status.st_size, bytes, offset);
  }
  MemoryObject made;
  made.descriptor_ = std::move(descriptor);
  made.map(offset, bytes, writable);
  return made;
}

MemoryObject::MemoryObject(MemoryObject&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

MemoryObject& MemoryObject::operator=(MemoryObject&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

bool MemoryObject::grow(std::uint64_t bytes) {
  if (bytes <= bytes_) return false;
  // Grows by a half at least, so that small increments do not remap it each time.
  const std::uint64_t wanted = round_up(std::max(bytes, bytes_ + bytes_ / 2), page);
  if (ftruncate(descriptor(), static_cast<off_t>(wanted)) != 0) {
    fail(Code::system, "cannot make a memory object {} bytes long: {}", wanted, system_text(errno));
  }
  while (fallocate(descriptor(), 0, 0, static_cast<off_t>(wanted)) != 0) {
    if (errno == EINTR) continue;
    fail(Code::system, "cannot reserve {} bytes of shared memory: {}; give the job more memory", wanted,
         system_text(errno));
  }
  unmap();
  map(0, wanted, true);
  return true;
}

void MemoryObject::map(std::uint64_t offset, std::uint64_t bytes, bool writable) {
  if (bytes == 0) return;
  void* const base = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor(),
                          static_cast<off_t>(offset));
  if (base == MAP_FAILED) fail(Code::system, "cannot map {} bytes of shared memory: {}", bytes, system_text(errno));
  data_ = static_cast<std::byte*>(base);
  bytes_ = bytes;
}

void MemoryObject::unmap() noexcept {
  if (data_) munmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
}

Descriptor read_only(int descriptor) {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  Descriptor opened(open_to_read(path));
  if (opened.get() < 0) {
    fail(Code::system, "cannot open shared memory a second time ({}): {}", path, system_text(errno));
  }
  return opened;
}

}  // namespace sidestream
