// Memory of large arrays that is kept for the next iteration.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sidestream::spectra {

/// Keeps the memory of at most one array, since the system would clear pages that are given back, which takes a fifth
/// of the time of a transform. If the next request has another size, it is freed.
class PageCache {
 public:
  /// The instance shared by all arrays of the process; it lives as long as it is in use.
  [[nodiscard]] static std::shared_ptr<PageCache> common();
  PageCache() = default;
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;
  ~PageCache() { clear(); }

  /// Returns `bytes` bytes aligned to `alignment`; `bytes` must be a multiple of `alignment`. Throws bad_alloc.
  [[nodiscard]] void* take(std::size_t bytes, std::size_t alignment);
  /// Keeps memory that `take` returned.
  void keep(void* memory, std::size_t bytes) noexcept;

 private:
  void clear() noexcept;

  std::mutex mutex_;
  std::vector<std::pair<void*, std::size_t>> kept_;
};

}  // namespace sidestream::spectra
