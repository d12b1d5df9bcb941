// Memory that large arrays of one iteration leave to those of the next.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sidestream::spectra {

/// Pages that were just given back would have to be cleared by the system again, which takes a fifth of the time of a
/// transform. What is kept is the memory of one array at most: of another size than is asked for next, it goes.
class LargeRooms {
 public:
  /// That of all arrays of the process; it lives as long as somebody has it.
  [[nodiscard]] static std::shared_ptr<LargeRooms> common();
  LargeRooms() = default;
  LargeRooms(const LargeRooms&) = delete;
  LargeRooms& operator=(const LargeRooms&) = delete;
  ~LargeRooms() { clear(); }

  /// Room of so many bytes that begins at a multiple of `alignment`, of which they are a multiple too. Throws
  /// std::bad_alloc.
  [[nodiscard]] void* take(std::size_t bytes, std::size_t alignment);
  /// Keeps what `take` gave.
  void keep(void* memory, std::size_t bytes) noexcept;

 private:
  void clear() noexcept;

  std::mutex mutex_;
  std::vector<std::pair<void*, std::size_t>> kept_;
};

}  // namespace sidestream::spectra
