#include "base/mpi/agree.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "base/mpi/communicator.hpp"

namespace sidestream {

namespace {

/// An exception that was caught, kept without allocating: memory may have run out.
struct Thrown {
  std::exception_ptr keeps;  ///< keeps the text alive
  const char* text = "";
  Code code = Code::internal;
};

Thrown current() noexcept {
  Thrown thrown{std::current_exception()};
  try {
    throw;
  } catch (const Error& e) {
    thrown.text = e.what();
    thrown.code = e.code();
  } catch (const std::bad_alloc&) {
    thrown.text = "out of memory";
    thrown.code = Code::system;
  } catch (const std::exception& e) {
    thrown.text = *e.what() ? e.what() : "an exception without text";
  } catch (...) {  // a plug-in may throw anything
    thrown.text = "an exception that is not a std::exception";
  }
  return thrown;
}

/// Sends a sentence to all members, as much of it as there is memory for. Collective. `mine` is set on the member with
/// the sentence, null on others.
std::string share_sentence(Communicator& members, const char* mine, std::int64_t length) {
  std::array<std::uint64_t, 64> words{};
  std::string text;
  for (std::int64_t at = 0; at < length; at += sizeof words) {
    const auto now = static_cast<std::size_t>(std::min<std::int64_t>(sizeof words, length - at));
    words.fill(0);
    if (mine) std::memcpy(words.data(), mine + at, now);
    members.bit_or(words);
    try {
      text.append(reinterpret_cast<const char*>(words.data()), now);
    } catch (const std::bad_alloc&) {
      // The members must reach the end of it together.
    }
  }
  return text;
}

}  // namespace

void run_collectively(Communicator& members, CallRef work) {
  if (const auto* mpi = dynamic_cast<const MpiCommunicator*>(&members); mpi && mpi->is_joint()) {
    work();
    return mpi->check();
  }
  Thrown thrown;
  bool failed = false;
  try {
    work();
  } catch (...) {
    thrown = current();
    failed = true;
  }
  if (members.size() == 1) {
    if (failed) throw Error(thrown.code, thrown.text);
    return;
  }
  std::int64_t failing = failed ? members.rank() : members.size();
  members.minimum(std::span(&failing, 1));
  if (failing == members.size()) return;
  const bool mine = failing == members.rank();
  std::array<std::int64_t, 2> facts{0, 0};
  if (mine) facts = {static_cast<std::int64_t>(thrown.code), static_cast<std::int64_t>(std::strlen(thrown.text))};
  members.sum(facts);
  throw Error(static_cast<Code>(facts[0]), share_sentence(members, mine ? thrown.text : nullptr, facts[1]));
}

void share_text(Communicator& all, std::string& text) {
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  Bytes bytes(at, at + text.size());
  all.broadcast(bytes, 0);
  text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace sidestream
