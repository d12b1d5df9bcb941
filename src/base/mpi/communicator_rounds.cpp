// Collectives whose number of rounds grows with the logarithm of the group's size. MPI's own non-blocking gathers send
// a message between every two members, and its prefix sums wait for one member after the other.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include "base/mpi/communicator.hpp"
#include "base/mpi/requests.hpp"

namespace sidestream {

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
