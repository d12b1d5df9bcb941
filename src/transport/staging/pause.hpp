// Looking again and again, ever more rarely.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace sidestream::staging {

class Pause {
 public:
  explicit Pause(std::chrono::microseconds longest = std::chrono::microseconds(10'000)) : longest_(longest) {}
  void sleep() {
    std::this_thread::sleep_for(length_);
    length_ = std::min(longest_, length_ + length_ / 2);
  }

 private:
  std::chrono::microseconds length_{100}, longest_;
};

}  // namespace sidestream::staging
