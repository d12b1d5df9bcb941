#include "session/sidecar_setup.hpp"

#include <cstring>

#include "base/fail.hpp"

namespace sidestream {

namespace {

void put(Bytes& out, BytesView bytes) {
  const std::uint64_t size = bytes.size();
  const auto* at = reinterpret_cast<const std::byte*>(&size);
  out.insert(out.end(), at, at + sizeof size);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put(Bytes& out, const std::string& text) { put(out, std::as_bytes(std::span(text))); }

BytesView take(BytesView& in) {
  std::uint64_t size = 0;
  if (in.size() >= sizeof size) std::memcpy(&size, in.data(), sizeof size);
  if (in.size() < sizeof size || in.size() - sizeof size < size) {
    fail(Code::system, "what the simulation declares ends too early; run the same build of Sidestream on both sides");
  }
  const BytesView part = in.subspan(sizeof size, size);
  in = in.subspan(sizeof size + size);
  return part;
}

std::string take_text(BytesView& in) {
  const BytesView part = take(in);
  return std::string(reinterpret_cast<const char*>(part.data()), part.size());
}

}  // namespace

Bytes SidecarSetup::encode() const {
  Bytes out;
  put(out, declarations);
  put(out, metadata);
  put(out, file);
  put(out, directory);
  put(out, std::as_bytes(std::span(&clients, 1)));
  for (const std::string& event : events) put(out, event);
  return out;
}

SidecarSetup SidecarSetup::decode(BytesView in) {
  SidecarSetup setup;
  const BytesView declarations = take(in);
  setup.declarations.assign(declarations.begin(), declarations.end());
  const BytesView metadata = take(in);
  setup.metadata.assign(metadata.begin(), metadata.end());
  setup.file = take_text(in);
  setup.directory = take_text(in);
  const BytesView clients = take(in);
  if (clients.size() == sizeof setup.clients) std::memcpy(&setup.clients, clients.data(), sizeof setup.clients);
  while (!in.empty()) setup.events.push_back(take_text(in));
  return setup;
}

}  // namespace sidestream
