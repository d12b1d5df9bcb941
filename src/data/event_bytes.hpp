// Serialisation of events in messages, files and shared memory.
#pragma once

#include "sidestream/data/event.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

inline void put_event(ByteWriter& out, const Event& event) {
  out.put(event.name);
  out.put(event.client);
  out.put(event.scope);
  out.put(event.raised);
  out.put(event.type);
  out.put(event.values);
}

/// Reads an event; the inverse of the function above. Throws the reader's errors if the bytes end too early.
[[nodiscard]] inline Event get_event(ByteReader& in) {
  Event event;
  in.get(event.name);
  in.get(event.client);
  in.get(event.scope);
  in.get(event.raised);
  in.get(event.type);
  in.get(event.values);
  return event;
}

}  // namespace sidestream
