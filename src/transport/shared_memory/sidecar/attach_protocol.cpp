#include "transport/shared_memory/sidecar/attach_protocol.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/unix_socket.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/version.h"
#include "transport/message.hpp"
#include "transport/shared_memory/control.hpp"

namespace sidestream::shared_memory {

Id random_id() {
  Id id{};
  if (getrandom(id.data(), sizeof id, 0) != sizeof id) fail(Code::system, "getrandom failed: {}", system_text(errno));
  return id;
}

std::uint64_t shared_memory_build() noexcept {
  Hash hash(control_layout(1, 1, 1, sizeof(MessageLine), 0).hash);
  hash.add(std::string_view(SIDESTREAM_VERSION));
  return hash.value();
}

std::string listener_name(const std::string& session, int pretended) {
  std::string name = fmt::format("sidestream-sidecar-{}-{}", geteuid(), session);
  if (pretended >= 0) name += fmt::format("-{}", pretended);
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (name.size() > longest || session.empty()) {
    fail(Code::configuration, "placement.session is '{}', {} characters; expected 1 to {}", session, session.size(),
         session.size() - (name.size() > longest ? name.size() - longest : 0));
  }
  return name;
}

namespace {

/// True if the path is a directory of this user that nobody else can write to; false for a link.
bool is_private(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string address_path(const std::string& directory, const std::string& name) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::string file = fmt::format("{}-{}", host, name);
  for (char& c : file) c = c == '/' ? '_' : c;  // from the session's name
  return fmt::format("{}/{}", directory, file);
}

bool write_address(const std::string& path, const std::string& address) {
  const std::string part = fmt::format("{}.{}", path, ::getpid());
  const Descriptor file(create_anew(part, O_WRONLY, 0600));
  const auto size = static_cast<ssize_t>(address.size());
  const bool written = file.get() >= 0 && ::write(file.get(), address.data(), address.size()) == size;
  if (written && ::rename(part.c_str(), path.c_str()) == 0) return true;
  ::unlink(part.c_str());
  return false;
}

}  // namespace

std::vector<std::string> address_directories() {
  std::vector<std::string> all;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime == '/' && is_private(runtime)) all.emplace_back(runtime);
  const char* home = std::getenv("HOME");
  if (home && *home == '/') {
    const std::string ours = fmt::format("{}/.sidestream", home);
    ::mkdir(ours.c_str(), 0700);
    if (is_private(ours)) all.push_back(ours);
  }
  return all;
}

AddressFile::AddressFile(const std::string& name, const std::string& address) {
  // Written in all directories, since the servers' environment may lack one.
  for (const std::string& directory : address_directories()) {
    const std::string path = address_path(directory, name);
    if (write_address(path, address)) files_.push_back(path);
  }
  if (!files_.empty()) return;
  fail(Code::usage,
       "the name '{}' is held by another user of this node, and there is no directory of this user's to note another "
       "one in; set XDG_RUNTIME_DIR or HOME to a directory that only you can write to, or change placement.session",
       name);
}

AddressFile::~AddressFile() {
  for (const std::string& file : files_) ::unlink(file.c_str());
}

std::optional<std::string> recorded_address(const std::string& name) {
  for (const std::string& directory : address_directories()) {
    const Descriptor file(open_existing(address_path(directory, name), O_RDONLY));
    char text[256];
    const ssize_t size = file.get() < 0 ? 0 : ::read(file.get(), text, sizeof text);
    if (size > 0) return std::string(text, static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

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
