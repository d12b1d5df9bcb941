// Publisher::timed, for the files that implement the publisher.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "base/waiting.hpp"
#include "client/publisher.hpp"

namespace sidestream {

/// Runs `work` and adds its time, without waiting, to one entry of the iteration's timing. If it throws, the iteration
/// is refused, because a client cannot tell how much of it is in place.
template <class Work>
[[gnu::hot]] auto Publisher::timed(double IterationTiming::*entry, Work&& work) {
  const double start = now();
  const auto finish = [&] {
    const double waited = transport_ ? transport_->status().waited : 0;
    const double wait = waited - std::exchange(waited_, waited);
    timing_.wait += wait;
    timing_.*entry += now() - start - wait;
  };
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      finish();
    } else {
      auto result = work();
      finish();
      return result;
    }
  } catch (const std::exception& e) {
    failed_call_ = e.what();
    refused_ |= Refusal::call_failed;
    finish();
    throw;
  } catch (...) {
    refused_ |= Refusal::call_failed;
    finish();
    throw;
  }
}

}  // namespace sidestream
