#include "session/opening/sidecar_setup.hpp"

#include <fmt/format.h>

#include "base/records.hpp"

namespace sidestream {

Bytes SidecarSetup::encode() const {
  ByteWriter out;
  out.put(declarations);
  out.put(metadata);
  out.put(file);
  out.put(directory);
  out.put(steering);
  out.put(std::uint64_t{sizeof clients});
  out.put(clients);
  for (const std::string& event : events) out.put(event);
  return out.take();
}

SidecarSetup SidecarSetup::decode(BytesView bytes) {
  ByteReader in(bytes, Code::system,
                "what the simulation declares ends too early; run the same build of Sidestream on both sides");
  SidecarSetup setup;
  in.get(setup.declarations);
  in.get(setup.metadata);
  in.get(setup.file);
  in.get(setup.directory);
  in.get(setup.steering);
  static_cast<void>(in.get<std::uint64_t>());  // the size of what follows
  in.get(setup.clients);
  while (!in.at_end()) in.get(setup.events.emplace_back());
  return setup;
}

std::string steering_text(const Config& config) {
  std::string text;
  for (const SteeredParameter& parameter : config.steering) {
    text += fmt::format("{} {} {}; ", parameter.name, parameter.is_real() ? "real" : "integer",
                        sidestream::text_of(parameter.initial));
  }
  return text.empty() ? "none" : fmt::format("{}{} iterations ahead", text, config.steering_ahead);
}

}  // namespace sidestream
