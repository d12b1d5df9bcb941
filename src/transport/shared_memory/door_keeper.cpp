#include "transport/shared_memory/door_keeper.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/shared_memory/handover.hpp"

#include "base/persist.hpp"

namespace sidestream::shared_memory {

namespace {

/// More connections than places are callers that were turned away and have not gone yet, or that never say hello.
constexpr std::size_t most_callers = 4096;

bool send_answer(int socket, const DoorAnswer& answer, const std::array<int, 3>* descriptors) {
  iovec piece{const_cast<DoorAnswer*>(&answer), sizeof answer};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * 3)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptors) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int) * 3);
    std::memcpy(CMSG_DATA(control), descriptors->data(), sizeof(int) * 3);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == sizeof answer;
}

}  // namespace

int DoorKeeper::holders() const {
  return static_cast<int>(
      std::count_if(callers_.begin(), callers_.end(), [](const Caller& c) { return c.place >= 0; }));
}

bool DoorKeeper::all_ready() const {
  return std::count_if(callers_.begin(), callers_.end(), [](const Caller& c) { return c.ready; }) == answer_.servers;
}

void DoorKeeper::take_new() {
  Descriptor socket(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.get() < 0) {
    // Out of descriptors, say: the caller stays in the queue, and looking again at once would keep a core busy.
    constexpr timespec rest{0, 10'000'000};
    nanosleep(&rest, nullptr);
    return;
  }
  if (!same_user(socket.get()) || callers_.size() >= most_callers) return;
  callers_.push_back({std::move(socket)});
}

bool DoorKeeper::answer(Caller& caller, const DoorHello& hello) {
  DoorAnswer reply = answer_;
  reply.epoch = epoch_;
  const auto turn_away = [&](DoorAnswer::Status status, const std::string& why) {
    reply.status = status;
    why.copy(reply.reason, sizeof reply.reason - 1);
    static_cast<void>(send_answer(caller.socket.get(), reply, nullptr));
    return false;
  };
  if (hello.magic != door_magic || hello.version != door_version || hello.build != door_build()) {
    return turn_away(DoorAnswer::Status::refused,
                     "the simulation runs another build of Sidestream; run the same one on both sides");
  }
  const bool taken = std::any_of(callers_.begin(), callers_.end(),
                                 [&](const Caller& c) { return c.place == static_cast<int>(hello.place); });
  if (holders() > 0 && (hello.group != group_ || taken)) {
    return turn_away(DoorAnswer::Status::busy,
                     "other servers are attached to the simulation; stop them first, or run one group");
  }
  if (hello.place >= static_cast<std::uint32_t>(answer_.servers)) {
    return turn_away(DoorAnswer::Status::refused,
                     fmt::format("the simulation expects {} servers on each node (placement.per_node), and this is "
                                 "number {}; start as many",
                                 answer_.servers, hello.place + 1));
  }
  if (!send_answer(caller.socket.get(), reply, &descriptors_)) return false;
  group_ = hello.group;
  caller.place = static_cast<int>(hello.place);
  return true;
}

void DoorKeeper::say(Caller& caller, DoorSay said) {
  bool& flag = said == DoorSay::go ? caller.ready : caller.leaving;
  if (caller.place < 0 || std::exchange(flag, true)) return;
  if (said == DoorSay::go && !attached_ && all_ready()) {
    attached_ = true;
    left_ = 0;
    word_.set(++epoch_, DoorWord::State::attached);
  }
  // Counted, because those that left first have gone when the last one does.
  if (said == DoorSay::leave && attached_ && ++left_ == answer_.servers) {
    attached_ = false;
    word_.set(epoch_, DoorWord::State::left);
  }
}

bool DoorKeeper::hear(Caller& caller) {
  DoorHello hello;
  const ssize_t got = recv(caller.socket.get(), &hello, sizeof hello, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got == sizeof(DoorHello) && caller.place == no_place) return answer(caller, hello);
  if (got != sizeof(DoorSay)) return false;
  DoorSay said{};
  std::memcpy(&said, &hello, sizeof said);
  say(caller, said);
  return true;
}

/// Who cannot be answered for want of memory is let go, and may knock again.
bool DoorKeeper::hear_safely(Caller& caller) noexcept {
  try {
    return hear(caller);
  } catch (const std::exception&) {
    return false;
  }
}

/// Clients are freed by the first of a group that goes; the next group is let in when the last one has gone.
void DoorKeeper::lose(const Caller& caller) {
  if (caller.place < 0 || !attached_ || caller.leaving) return;
  attached_ = false;
  word_.set(epoch_, DoorWord::State::nobody);
}

void DoorKeeper::run() {
  std::vector<pollfd> entries;
  for (;;) {
    persist([&] {
      entries.assign({{listener_, POLLIN, 0}, {wake_, POLLIN, 0}});
      for (const Caller& caller : callers_) entries.push_back({caller.socket.get(), POLLIN, 0});
    });
    if (poll(entries.data(), entries.size(), -1) < 0) continue;
    if (entries[1].revents) return;
    for (std::size_t n = entries.size(); n-- > 2;) {
      if (entries[n].revents == 0 || hear_safely(callers_[n - 2])) continue;
      lose(callers_[n - 2]);
      callers_.erase(callers_.begin() + static_cast<std::ptrdiff_t>(n - 2));
    }
    if (entries[0].revents) persist([&] { take_new(); });
  }
}

}  // namespace sidestream::shared_memory
