// Serialisation of events in messages, files and shared memory.
#pragma once

#include "base/fields.hpp"
#include "sidestream/data/event.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<Event> = 6;

}  // namespace sidestream
