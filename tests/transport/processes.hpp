// Child processes for tests, and memory that is shared with them.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>

namespace sidestream::test {

/// Anonymous memory, initially zero, that children of fork share. Pages need memory only when they are touched.
class SharedMemory {
 public:
  explicit SharedMemory(std::uint64_t bytes) : bytes_(bytes) {
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::runtime_error("mmap failed");
    data_ = static_cast<std::byte*>(base);
  }
  ~SharedMemory() { munmap(data_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  template <class T>
  [[nodiscard]] T& as(std::uint64_t offset = 0) const {
    return *reinterpret_cast<T*>(data_ + offset);
  }

 private:
  std::byte* data_;
  std::uint64_t bytes_;
};

/// Runs `body` in a child, which exits with the value that it returns, or 99 if it throws. The destructor kills the
/// child if it still runs.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ > 0) return;
    int result = 99;
    try {
      result = body();
    } catch (const std::exception&) {
    }
    _exit(result);  // not exit: handlers of MPI and of the test program belong to the parent
  }
  ~Child() {
    if (!gone_) kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends SIGKILL, and waits until the process is gone.
  void kill() {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    gone_ = true;
  }
  /// The exit status, or -signal if it was killed. If it does not end within `limit`, it is killed, and the result is
  /// -1000.
  int wait(std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        kill();
        return -1000;
      }
      const timespec pause{0, 200'000};
      nanosleep(&pause, nullptr);
    }
    gone_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  int pid_;
  bool gone_ = false;
};

inline void sleep_us(long us) {
  const timespec pause{us / 1'000'000, us % 1'000'000 * 1000};
  nanosleep(&pause, nullptr);
}

/// A mixing function (splitmix64), for the contents of record or block n.
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15ull;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ull;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebull;
  return n ^ (n >> 31);
}

}  // namespace sidestream::test
