// A few threads that share work which needs neither MPI nor HDF5.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sidestream {

/// Used by one thread, which works along. With one thread in all none is started.
class WorkerPool {
 public:
  /// `threads` in all, at least 1. Where the system gives fewer there are fewer.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls work(n) for n from 0 to `count` - 1, in any order and at the same time, and returns when all have returned.
  /// If calls throw, one of the exceptions is thrown again then. Works in the floating-point environment of servers.
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
