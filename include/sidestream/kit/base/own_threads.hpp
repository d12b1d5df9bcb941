// Threads of the library in a program that is not ours.
#pragma once

#include <functional>
#include <thread>

namespace sidestream {

/// Starts a thread that receives no signals, which are for the program's own threads. Its messages go where the
/// starting thread's go. Throws what std::thread throws.
[[nodiscard]] std::thread thread_without_signals(std::function<void()> work);

}  // namespace sidestream
