#include "base/worker_pool.hpp"

#include <exception>
#include <system_error>
#include <utility>

#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/own_threads.hpp"

namespace sidestream {

WorkerPool::WorkerPool(int threads) {
  try {
    threads_.reserve(static_cast<std::size_t>(threads > 1 ? threads - 1 : 0));
    while (this->threads() < threads) threads_.push_back(thread_without_signals([this] { serve(); }));
  } catch (const std::system_error&) {
    // With fewer threads it is slower but still correct.
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// Executes calls until none is left to begin.
void WorkerPool::take(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const std::size_t mine = next_++;
    const auto& work = *work_;
    lock.unlock();
    std::exception_ptr failed;
    try {
      work(mine);
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    if (failed) failed_ = std::move(failed);
    if (++finished_ == count_) done_.notify_all();
  }
}

void WorkerPool::serve() {
  const FloatEnvironment environment;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return ending_ || next_ < count_; });
    if (ending_) return;
    take(lock);
  }
}

void WorkerPool::for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
  const FloatEnvironment environment;
  std::unique_lock lock(mutex_);
  work_ = &work;
  next_ = finished_ = 0;
  count_ = count;
  if (count > 1) wake_.notify_all();
  take(lock);
  done_.wait(lock, [&] { return finished_ == count_; });
  next_ = count_ = 0;
  work_ = nullptr;
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

}  // namespace sidestream
