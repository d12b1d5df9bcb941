// What the door's thread does: takes connections, gives places to one group of servers at a time, writes the door word.
#pragma once

#include <vector>

#include "transport/shared_memory/control.hpp"
#include "transport/shared_memory/descriptor.hpp"
#include "transport/shared_memory/door_protocol.hpp"

namespace sidestream::shared_memory {

class DoorKeeper {
 public:
  /// `answer` as for a welcome; `descriptors` are handed out with it.
  DoorKeeper(int listener, int wake, DoorWord& word, const DoorAnswer& answer, const std::array<int, 3>& descriptors)
      : listener_(listener), wake_(wake), word_(word), answer_(answer), descriptors_(descriptors) {}
  /// Until `wake` becomes readable. Never throws for what callers do.
  void run();
  /// After `run`: the simulation has closed. Servers find the word when their connections end, with this object.
  void close() { word_.set(epoch_, DoorWord::State::closed); }

 private:
  static constexpr int no_place = -1;
  struct Caller {
    Descriptor socket;
    int place = no_place;
    bool ready = false, leaving = false;
  };
  void take_new();
  /// False: the connection is over.
  [[nodiscard]] bool hear(Caller& caller);
  [[nodiscard]] bool hear_safely(Caller& caller) noexcept;
  [[nodiscard]] bool answer(Caller& caller, const DoorHello& hello);
  void say(Caller& caller, DoorSay word);
  void lose(const Caller& caller);
  [[nodiscard]] int holders() const;
  [[nodiscard]] bool all_ready() const;

  int listener_, wake_;
  DoorWord& word_;
  DoorAnswer answer_;
  std::array<int, 3> descriptors_;
  std::vector<Caller> callers_;
  Id group_{};  ///< that has the places
  std::uint64_t epoch_ = 0;
  bool attached_ = false;
  int left_ = 0;  ///< servers of the attached group that have said that they leave
};

}  // namespace sidestream::shared_memory
