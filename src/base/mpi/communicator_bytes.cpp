// Exchange of bytes of any length between members.
//
// A member that cannot allocate its receive buffers says so before anything is sent. All then fail alike, and nobody
// frees memory that MPI still writes to.
//
// The number of rounds of other collectives grows with the logarithm of the group's size. MPI's own non-blocking
// gathers send a message between every two members, and its prefix sums wait for one member after the other.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <new>
#include <optional>

#include "base/mpi/communicator.hpp"
#include "base/mpi/polite_wait.hpp"
#include "base/mpi/requests.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr int size_tag = 6, bytes_tag = 7;

}  // namespace

/// Throws everywhere if a member says no. Collective.
void MpiCommunicator::agree_on_memory(bool enough) {
  int failing = enough ? size_ : rank_;
  if (size_ > 1) {
    MPI_Request request;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MIN, comm_, &request), "MPI_Iallreduce");
    wait(request);
  }
  if (failing == size_) return;
  fail(Code::system,
       "process {} of a group of {} is out of memory for what others send it; give it more, or ask for less (smaller "
       "images, fewer samples, smaller blocks)",
       failing, size_);
}

/// Allocates a size for each member on first use. Collective. A session has many communicators, and most never need it.
void MpiCommunicator::make_sizes() {
  if (!in_sizes_.empty()) return;
  try {
    prepare([&] { in_sizes_.resize(static_cast<std::size_t>(size_)); });
  } catch (...) {
    in_sizes_.clear();  // so that next time all members make them, or none
    throw;
  }
}

std::vector<Bytes> MpiCommunicator::gather(BytesView mine, int root) {
  check();
  make_sizes();
  const std::uint64_t size = mine.size();
  MPI_Request request;
  check_mpi(MPI_Igather(&size, 1, MPI_UINT64_T, in_sizes_.data(), 1, MPI_UINT64_T, root, comm_, &request),
            "MPI_Igather");
  wait(request);
  std::vector<Bytes> parts;
  std::optional<Requests> requests;
  prepare([&] {
    if (rank_ != root) {
      requests.emplace(pieces_of(mine.size(), piece_));
      return;
    }
    std::size_t most = 0;
    parts.resize(static_cast<std::size_t>(size_));
    for (std::size_t r = 0; r < parts.size(); ++r) {
      parts[r].resize(in_sizes_[r]);
      most += pieces_of(in_sizes_[r], piece_);
    }
    requests.emplace(most);
  });
  if (rank_ != root) requests->send(mine.data(), mine.size(), root, bytes_tag, piece_, comm_);
  for (int r = 0; r < static_cast<int>(parts.size()); ++r) {
    Bytes& part = parts[static_cast<std::size_t>(r)];
    if (r != root) {
      requests->receive(part.data(), part.size(), r, bytes_tag, piece_, comm_);
    } else if (!mine.empty()) {
      std::memcpy(part.data(), mine.data(), mine.size());
    }
  }
  requests->finish([this](MPI_Request& r) { wait(r); });
  return parts;
}

void MpiCommunicator::broadcast(Bytes& bytes, int root) {
  check();
  std::uint64_t total = bytes.size();
  MPI_Request request;
  check_mpi(MPI_Ibcast(&total, 1, MPI_UINT64_T, root, comm_, &request), "MPI_Ibcast");
  wait(request);
  prepare([&] { bytes.resize(total); });
  for (std::size_t at = 0; at < total; at += piece_) {
    const int now = static_cast<int>(std::min<std::size_t>(piece_, total - at));
    check_mpi(MPI_Ibcast(bytes.data() + at, now, MPI_BYTE, root, comm_, &request), "MPI_Ibcast");
    wait(request);
  }
}

/// Tells each receiver the length of each message, by synchronous sends. When all messages of a member are received it
/// enters a barrier; when the barrier is over nobody has any left. `receive` is called for what came here. Nothing here
/// allocates once `sending`, with room for one request each, exists.
template <class Receive>
void MpiCommunicator::swap_sizes(std::span<const MessageView> to, std::vector<MPI_Request>& sending,
                                 Receive&& receive) {
  for (const MessageView& message : to) {
    if (message.member == rank_) continue;
    const std::size_t n = sending.size();
    check_mpi(MPI_Issend(&out_lengths_[n], 1, MPI_UINT64_T, message.member, size_tag, comm_,
                         &sending.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Issend");
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  const auto take_one = [&] {
    int there = 0;
    MPI_Message message;
    MPI_Status status;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, size_tag, comm_, &there, &message, &status), "MPI_Improbe");
    if (!there) return false;
    std::uint64_t length = 0;
    check_mpi(MPI_Mrecv(&length, 1, MPI_UINT64_T, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    receive(status.MPI_SOURCE, length);
    return true;
  };
  const auto over = [&] {
    while (take_one()) {
    }
    int done = 0;
    if (barrier == MPI_REQUEST_NULL) {
      check_mpi(MPI_Testall(static_cast<int>(sending.size()), sending.data(), &done, MPI_STATUSES_IGNORE),
                "MPI_Testall");
      if (done) check_mpi(MPI_Ibarrier(comm_, &barrier), "MPI_Ibarrier");
      return false;
    }
    check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  };
  polite_poll(std::cref(over), meanwhile_);
}

/// Sends messages to other members; the caller handles those to this member. Returns those of others, by ascending
/// sender, with room for `more`.
std::vector<MemberMessage> MpiCommunicator::send_sparse(std::span<const MessageView> to, std::size_t more) {
  std::vector<MPI_Request> sending;
  std::vector<MemberMessage> from;
  std::vector<std::pair<int, std::uint64_t>> coming;
  prepare([&] {
    sending.reserve(to.size());
    out_lengths_.clear();
    for (const MessageView& message : to) {
      if (message.member != rank_) out_lengths_.push_back(message.bytes.size());
    }
  });
  bool enough = true;
  swap_sizes(to, sending, [&](int member, std::uint64_t length) {
    try {
      coming.emplace_back(member, length);
    } catch (const std::bad_alloc&) {
      enough = false;
    }
  });
  std::optional<Requests> requests;
  prepare([&] {
    if (!enough) throw std::bad_alloc();
    std::size_t most = 0;
    std::stable_sort(coming.begin(), coming.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    from.reserve(coming.size() + more);
    for (const auto& [member, length] : coming) {
      from.push_back({member, Bytes(length)});
      most += pieces_of(length, piece_);
    }
    for (const MessageView& message : to) most += pieces_of(message.bytes.size(), piece_);
    requests.emplace(most);
  });
  for (MemberMessage& message : from) {
    requests->receive(message.bytes.data(), message.bytes.size(), message.member, bytes_tag, piece_, comm_);
  }
  for (const MessageView& message : to) {
    if (message.member == rank_) continue;
    requests->send(message.bytes.data(), message.bytes.size(), message.member, bytes_tag, piece_, comm_);
  }
  requests->finish([this](MPI_Request& r) { wait(r); });
  return from;
}

std::vector<MemberMessage> MpiCommunicator::exchange(std::vector<MemberMessage> to) {
  check();
  std::vector<MessageView> views;
  std::vector<MemberMessage> mine;
  prepare([&] {
    for (const MemberMessage& message : to) {
      if (message.member == rank_) mine.push_back({rank_, {}});
      views.push_back({message.member, message.bytes});
    }
  });
  std::vector<MemberMessage> from = send_sparse(views, mine.size());
  auto next = mine.begin();
  for (MemberMessage& message : to) {
    if (message.member == rank_) (next++)->bytes = std::move(message.bytes);
  }
  const auto above = std::find_if(from.begin(), from.end(), [this](const auto& m) { return m.member > rank_; });
  from.insert(above, std::move_iterator(mine.begin()), std::move_iterator(mine.end()));  // does not allocate
  return from;
}

/// Sends nothing to members that get nothing: then as cheap as `exchange`.
std::vector<Bytes> MpiCommunicator::all_to_all(const std::vector<Bytes>& to) {
  check();
  std::vector<MessageView> views;
  std::vector<Bytes> from;
  prepare([&] {
    from.resize(to.size());
    from[static_cast<std::size_t>(rank_)] = to[static_cast<std::size_t>(rank_)];
    for (int r = 0; r < size_; ++r) {
      const Bytes& bytes = to[static_cast<std::size_t>(r)];
      if (r != rank_ && !bytes.empty()) views.push_back({r, bytes});
    }
  });
  for (MemberMessage& message : send_sparse(views, 0)) {
    from[static_cast<std::size_t>(message.member)] = std::move(message.bytes);
  }
  return from;
}

namespace {

constexpr int sizes_tag = 8, parts_tag = 9, sum_tag = 10;

}  // namespace

/// The doubling scheme of Bruck and others (1997). Members follow each other around a ring, this one first. In each
/// round, in which all know `known` members' data, each learns as many more from the one that far ahead. `send` and
/// `receive` post the entries [first, last) counted from this member.
template <class Send, class Receive>
void MpiCommunicator::double_round_ring(Requests& requests, Send&& send, Receive&& receive) {
  for (int known = 1; known < size_; known *= 2) {
    const int more = std::min(known, size_ - known);
    const int ahead = (rank_ + known) % size_, behind = (rank_ + size_ - known) % size_;
    receive(known, known + more, ahead);
    send(0, more, behind);
    requests.finish([this](MPI_Request& r) { wait(r); });
  }
}

/// Fills in_sizes_, by member.
void MpiCommunicator::gather_sizes(std::uint64_t mine) {
  make_sizes();
  std::vector<std::uint64_t> ring;  // in the order of the ring
  std::optional<Requests> requests;
  prepare([&] {
    ring.resize(static_cast<std::size_t>(size_));
    requests.emplace(2 * pieces_of(ring.size() * sizeof(std::uint64_t), piece_) + 2);
  });
  ring[0] = mine;
  const auto bytes = [&](int first, int last) {
    return std::as_writable_bytes(
        std::span(ring).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
  };
  double_round_ring(
      *requests,
      [&](int first, int last, int to) {
        requests->send(bytes(first, last).data(), bytes(first, last).size(), to, sizes_tag, piece_, comm_);
      },
      [&](int first, int last, int from) {
        requests->receive(bytes(first, last).data(), bytes(first, last).size(), from, sizes_tag, piece_, comm_);
      });
  for (int n = 0; n < size_; ++n) {
    in_sizes_[static_cast<std::size_t>((rank_ + n) % size_)] = ring[static_cast<std::size_t>(n)];
  }
}

std::vector<Bytes> MpiCommunicator::all_gather(BytesView mine) {
  check();
  gather_sizes(mine.size());
  std::vector<Bytes> parts;
  std::vector<std::size_t> begins;  // in the order of the ring
  Bytes ring;
  std::optional<Requests> requests;
  prepare([&] {
    parts.resize(static_cast<std::size_t>(size_));
    begins.assign(1, 0);
    for (int n = 0; n < size_; ++n) {
      const auto member = static_cast<std::size_t>((rank_ + n) % size_);
      parts[member].resize(in_sizes_[member]);
      begins.push_back(begins.back() + in_sizes_[member]);
    }
    ring.resize(begins.back());
    requests.emplace(2 * pieces_of(ring.size(), piece_) + 2);
  });
  std::copy(mine.begin(), mine.end(), ring.begin());
  const auto begin = [&](int n) { return begins[static_cast<std::size_t>(n)]; };
  double_round_ring(
      *requests,
      [&](int first, int last, int to) {
        requests->send(ring.data() + begin(first), begin(last) - begin(first), to, parts_tag, piece_, comm_);
      },
      [&](int first, int last, int from) {
        requests->receive(ring.data() + begin(first), begin(last) - begin(first), from, parts_tag, piece_, comm_);
      });
  for (int n = 0; n < size_; ++n) {
    Bytes& part = parts[static_cast<std::size_t>((rank_ + n) % size_)];
    if (!part.empty()) std::memcpy(part.data(), ring.data() + begin(n), part.size());
  }
  return parts;
}

/// Doubling prefix sum: after each round a member has the sum of twice as many members, ending with it (Hillis and
/// Steele 1986).
std::int64_t MpiCommunicator::exclusive_sum(std::int64_t value) {
  check();
  auto sum = static_cast<std::uint64_t>(value);  // wraps
  for (int distance = 1; distance < size_; distance *= 2) {
    std::uint64_t sent = sum, got = 0;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (rank_ >= distance) {
      check_mpi(MPI_Irecv(&got, 1, MPI_UINT64_T, rank_ - distance, sum_tag, comm_, &requests[0]), "MPI_Irecv");
    }
    if (rank_ + distance < size_) {
      check_mpi(MPI_Isend(&sent, 1, MPI_UINT64_T, rank_ + distance, sum_tag, comm_, &requests[1]), "MPI_Isend");
    }
    // Tests both at once: whatever is thrown, MPI has released the two numbers.
    const auto over = [&requests] {
      int done = 0;
      check_mpi(MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      return done != 0;
    };
    polite_poll(std::cref(over), meanwhile_);
    sum += got;
  }
  return static_cast<std::int64_t>(sum - static_cast<std::uint64_t>(value));
}

}  // namespace sidestream
