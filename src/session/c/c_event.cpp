// Events for analyses written in C.
#include "session/c/c_function.hpp"
#include "session/c/c_struct.hpp"
#include "sidestream/sidestream.h"

extern "C" {

int64_t sidestream_input_events(const sidestream_input* input) {
  return input && input->local ? static_cast<int64_t>(input->local->events.size()) : 0;
}

int sidestream_input_event(const sidestream_input* input, int64_t n, sidestream_event* event) {
  if (!event || n < 0 || n >= sidestream_input_events(input)) return SIDESTREAM_ERROR_USAGE;
  const sidestream::Event& found = input->local->events[static_cast<std::size_t>(n)];
  sidestream_event whole{};
  whole.name = found.name.c_str();
  whole.client = found.client;
  whole.scope = static_cast<sidestream_scope>(found.scope);
  whole.raised = found.raised;
  whole.type = static_cast<sidestream_type>(found.type);
  whole.count = static_cast<int64_t>(found.count());
  whole.values = found.values.data();
  sidestream::fill(*event, whole);
  return SIDESTREAM_OK;
}
}
