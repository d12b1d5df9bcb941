// Parts that the files of the publisher share: timed work, unsent arrays, and words of messages.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/publisher.hpp"
#include "config/config.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/waiting.hpp"

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

/// Runs `work`, which hands an array over. If it throws, an array that does not vary in time is unsent from then on.
template <class Work>
[[gnu::hot]] auto Publisher::or_mark_unsent(Slot& slot, Work&& work) {
  try {
    return work();
  } catch (...) {
    if (slot.published_in != account_.iterations && !options_.off) {
      slot.waiting.clear();
      mark_unsent(slot);
    }
    throw;
  }
}

inline std::string text_of(const Box& box) {
  return fmt::format("[{}, {}) x [{}, {}) x [{}, {})", box.lo[0], box.hi[0], box.lo[1], box.hi[1], box.lo[2],
                     box.hi[2]);
}

inline std::string near_to(std::string_view name, const std::vector<std::string>& known) {
  const std::string guess = did_you_mean(std::string(name), known);
  return guess.empty() ? "" : fmt::format(" (did you mean '{}'?)", guess);
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

}  // namespace sidestream
