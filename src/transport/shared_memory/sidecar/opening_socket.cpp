#include "transport/shared_memory/sidecar/opening_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/unix_socket.hpp"

namespace sidestream::shared_memory {

namespace {

std::string simulations_end(const std::string& listener) { return listener + "+"; }
std::string servers_end(const std::string& listener) { return listener + "-"; }

Descriptor make_socket() {
  return Descriptor(above_standard(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
}

/// Listens without accepting: connections wait in the queue, and end with the listener.
Descriptor listen_at(const std::string& name) {
  Descriptor listener = make_socket();
  if (listener.get() < 0) return Descriptor();
  const AbstractAddress at(name);
  const bool listens = bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.length) == 0 &&
                       ::listen(listener.get(), SOMAXCONN) == 0;
  return listens ? std::move(listener) : Descriptor();
}

Descriptor connect_if_ours(const std::string& name) {
  Descriptor socket = make_socket();
  if (socket.get() < 0) return Descriptor();
  const AbstractAddress to(name);
  const bool connected = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to.address), to.length) == 0;
  return connected && same_user(socket.get()) ? std::move(socket) : Descriptor();
}

}  // namespace

OpeningSocket::OpeningSocket(const std::string& listener)
    : listener_(listen_at(simulations_end(listener))), to_waiting_(connect_if_ours(servers_end(listener))) {}

OpeningWatch::OpeningWatch(const std::string& listener)
    : name_(listener),
      listener_(listen_at(servers_end(listener))),
      socket_(connect_if_ours(simulations_end(listener))) {}

bool OpeningWatch::has_ended() {
  if (socket_.get() < 0 && listener_.get() >= 0) {
    Descriptor socket(above_standard(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
    if (socket.get() >= 0 && same_user(socket.get())) socket_ = std::move(socket);
  }
  if (socket_.get() < 0) socket_ = connect_if_ours(simulations_end(name_));
  pollfd entry{socket_.get(), POLLIN, 0};
  if (socket_.get() < 0 || poll(&entry, 1, 0) <= 0 || entry.revents == 0) return false;
  socket_ = Descriptor();
  return true;
}

}  // namespace sidestream::shared_memory
