// A few threads that share work which needs neither MPI nor HDF5.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sidestream {

/// A pool used by one thread, which takes part in the work. With a size of one no thread is started.
class WorkerPool {
 public:
  /// `threads` counts all, at least 1. If the system provides fewer, the pool is smaller.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls work(n) for n from 0 to `count` - 1, in any order and concurrently, and returns when all have returned. If
  /// calls throw, it then rethrows one of the exceptions. The calls run in the floating-point environment of servers.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work);
  [[nodiscard]] int threads() const noexcept { return static_cast<int>(threads_.size()) + 1; }

 private:
  void serve();
  void take(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t next_ = 0, count_ = 0, finished_ = 0;
  std::exception_ptr failed_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sidestream
