// Bytes of any length between members. Who cannot make room for what comes says so before anything is sent, so that all
// fail alike, and nobody leaves memory behind that MPI still writes.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>

#include "base/communicator.hpp"
#include "base/fail.hpp"
#include "base/polite_wait.hpp"

namespace sidestream {

namespace {

constexpr int size_tag = 6, tag = 7;

std::size_t pieces_of(std::size_t bytes, std::size_t piece) { return (bytes + piece - 1) / piece; }

/// Sends and receives that are under way. There is room for them before the first is posted; whatever is thrown, MPI
/// has let go of their memory when this object is gone.
class Requests {
 public:
  explicit Requests(std::size_t most) { requests_.reserve(most); }
  ~Requests() {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  void send(const std::byte* data, std::size_t bytes, int to, std::size_t piece, MPI_Comm comm) {
    for (std::size_t at = 0; at < bytes; at += piece) {
      const int now = static_cast<int>(std::min(piece, bytes - at));
      MPI_Request request;
      check_mpi(MPI_Isend(data + at, now, MPI_BYTE, to, tag, comm, &request), "MPI_Isend");
      requests_.push_back(request);
    }
  }
  void receive(std::byte* data, std::size_t bytes, int from, std::size_t piece, MPI_Comm comm) {
    for (std::size_t at = 0; at < bytes; at += piece) {
      const int now = static_cast<int>(std::min(piece, bytes - at));
      MPI_Request request;
      check_mpi(MPI_Irecv(data + at, now, MPI_BYTE, from, tag, comm, &request), "MPI_Irecv");
      requests_.push_back(request);
    }
  }
  template <class Wait>
  void finish(Wait&& wait) {
    for (MPI_Request& request : requests_) wait(request);
  }

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace

/// Collective: throws everywhere if a member says no.
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

/// Collective: makes room. What comes after it needs no memory, or all throw.
template <class Prepare>
void MpiCommunicator::prepare(Prepare&& prepare) {
  bool enough = true;
  try {
    prepare();
  } catch (const std::bad_alloc&) {
    enough = false;
  } catch (const std::length_error&) {
    enough = false;
  }
  agree_on_memory(enough);
}

std::vector<Bytes> MpiCommunicator::gather(BytesView mine, int root) {
  check();
  out_sizes_[0] = mine.size();
  MPI_Request request;
  check_mpi(MPI_Igather(out_sizes_.data(), 1, MPI_UINT64_T, in_sizes_.data(), 1, MPI_UINT64_T, root, comm_, &request),
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
  if (rank_ != root) requests->send(mine.data(), mine.size(), root, piece_, comm_);
  for (int r = 0; r < static_cast<int>(parts.size()); ++r) {
    Bytes& part = parts[static_cast<std::size_t>(r)];
    if (r != root) {
      requests->receive(part.data(), part.size(), r, piece_, comm_);
    } else if (!mine.empty()) {
      std::memcpy(part.data(), mine.data(), mine.size());
    }
  }
  requests->finish([this](MPI_Request& r) { wait(r); });
  return parts;
}

/// Adds to every part what its member has from byte `at` on, as much as fits in one call of MPI.
void MpiCommunicator::gather_round(BytesView mine, std::size_t at, std::span<std::byte> scratch,
                                   std::vector<Bytes>& parts) {
  const std::size_t most = std::max<std::size_t>(1, piece_ / parts.size());
  int place = 0;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    counts_[r] = static_cast<int>(std::min(most, parts[r].size() - std::min(parts[r].size(), at)));
    places_[r] = place;
    place += counts_[r];
  }
  const int count = counts_[static_cast<std::size_t>(rank_)];
  MPI_Request request;
  check_mpi(MPI_Iallgatherv(count > 0 ? mine.data() + at : nullptr, count, MPI_BYTE, scratch.data(), counts_.data(),
                            places_.data(), MPI_BYTE, comm_, &request),
            "MPI_Iallgatherv");
  wait(request);
  for (std::size_t r = 0; r < parts.size(); ++r) {
    if (counts_[r] > 0) {
      std::memcpy(parts[r].data() + at, scratch.data() + places_[r], static_cast<std::size_t>(counts_[r]));
    }
  }
}

std::vector<Bytes> MpiCommunicator::all_gather(BytesView mine) {
  check();
  out_sizes_[0] = mine.size();
  MPI_Request request;
  check_mpi(MPI_Iallgather(out_sizes_.data(), 1, MPI_UINT64_T, in_sizes_.data(), 1, MPI_UINT64_T, comm_, &request),
            "MPI_Iallgather");
  wait(request);
  std::vector<Bytes> parts;
  Bytes scratch;
  std::size_t longest = 0;
  prepare([&] {
    std::size_t total = 0;
    parts.resize(static_cast<std::size_t>(size_));
    for (std::size_t r = 0; r < parts.size(); ++r) {
      parts[r].resize(in_sizes_[r]);
      total += in_sizes_[r];
      longest = std::max<std::size_t>(longest, in_sizes_[r]);
    }
    scratch.resize(std::min(total, std::max(piece_, parts.size())));
  });
  const std::size_t round = std::max<std::size_t>(1, piece_ / parts.size());
  for (std::size_t at = 0; at < longest; at += round) gather_round(mine, at, scratch, parts);
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

std::vector<Bytes> MpiCommunicator::all_to_all(const std::vector<Bytes>& to) {
  check();
  std::size_t most = 0;
  for (std::size_t r = 0; r < to.size(); ++r) {
    out_sizes_[r] = to[r].size();
    most += pieces_of(to[r].size(), piece_);
  }
  MPI_Request request;
  check_mpi(MPI_Ialltoall(out_sizes_.data(), 1, MPI_UINT64_T, in_sizes_.data(), 1, MPI_UINT64_T, comm_, &request),
            "MPI_Ialltoall");
  wait(request);
  std::vector<Bytes> from;
  std::optional<Requests> requests;
  prepare([&] {
    from.resize(static_cast<std::size_t>(size_));
    for (std::size_t r = 0; r < from.size(); ++r) {
      from[r].resize(in_sizes_[r]);
      most += pieces_of(in_sizes_[r], piece_);
    }
    requests.emplace(most);
  });
  for (int r = 0; r < size_; ++r) {
    const auto n = static_cast<std::size_t>(r);
    if (r == rank_) {
      std::copy(to[n].begin(), to[n].end(), from[n].begin());
      continue;
    }
    requests->receive(from[n].data(), from[n].size(), r, piece_, comm_);
    requests->send(to[n].data(), to[n].size(), r, piece_, comm_);
  }
  requests->finish([this](MPI_Request& r) { wait(r); });
  return from;
}

/// Tells each receiver the length of each message, by synchronous sends: when all of a member's are received it enters
/// a barrier, and when that is over nobody has any left. `receive` is told of what came here. Nothing here takes
/// memory once `sending`, which has room for a request each, is there.
template <class Receive>
void MpiCommunicator::swap_sizes(const std::vector<MemberMessage>& to, std::vector<MPI_Request>& sending,
                                 Receive&& receive) {
  for (const MemberMessage& message : to) {
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

std::vector<MemberMessage> MpiCommunicator::exchange(std::vector<MemberMessage> to) {
  check();
  std::vector<MPI_Request> sending;
  std::vector<MemberMessage> from;
  std::vector<std::pair<int, std::uint64_t>> coming;
  prepare([&] {
    sending.reserve(to.size());
    out_lengths_.clear();
    for (const MemberMessage& message : to) {
      if (message.member == rank_) {
        coming.emplace_back(rank_, message.bytes.size());
      } else {
        out_lengths_.push_back(message.bytes.size());
      }
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
    for (const auto& [member, length] : coming) {
      from.push_back({member, Bytes(member == rank_ ? 0 : length)});
      most += pieces_of(length, piece_);
    }
    for (const MemberMessage& message : to) most += pieces_of(message.bytes.size(), piece_);
    requests.emplace(most);
  });
  auto mine = std::find_if(from.begin(), from.end(), [this](const MemberMessage& m) { return m.member == rank_; });
  for (MemberMessage& message : from) {
    if (message.member != rank_) {
      requests->receive(message.bytes.data(), message.bytes.size(), message.member, piece_, comm_);
    }
  }
  for (MemberMessage& message : to) {
    if (message.member == rank_) {
      (mine++)->bytes = std::move(message.bytes);
    } else {
      requests->send(message.bytes.data(), message.bytes.size(), message.member, piece_, comm_);
    }
  }
  requests->finish([this](MPI_Request& r) { wait(r); });
  return from;
}

}  // namespace sidestream
