// Named signals of the program, as analyses see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/data/type.hpp"

namespace sidestream {

/// The servers that see an event: the server of the client that raised it, also the servers on that client's node, or
/// all servers.
enum class EventScope : std::int32_t { server = 0, node = 1, all = 2 };

/// An event that was raised with values or for a scope, or a barrier that all clients have reached.
struct Event {
  std::string name;
  std::int32_t client = -1;  ///< the client that raised it, by its number among all clients; -1: all of them, at a
                             ///< barrier
  EventScope scope = EventScope::all;
  std::int64_t raised = 0;  ///< the client's iteration, which is earlier than this one if it was refused; for a
                            ///< barrier, the iteration of the last client to reach it
  Type type = Type::uint8;
  std::vector<std::byte> values{};  ///< a whole number of elements of `type`

  [[nodiscard]] std::size_t count() const noexcept { return values.size() / size_of(type); }
};

/// Largest number of bytes of an event's values. Longer data is a variable.
inline constexpr std::size_t longest_event = 1024;

}  // namespace sidestream
