#include "base/communicator.hpp"

#include <algorithm>
#include <cstring>

#include "base/polite_wait.hpp"

namespace sidestream {

namespace {
// MPI counts are ints: longer messages go in pieces of this many bytes.
constexpr std::size_t piece = std::size_t{1} << 30;
constexpr int tag = 7;
}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm comm) {
  check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
  set_up();
}

MpiCommunicator::MpiCommunicator(Adopt, MPI_Comm comm) : comm_(comm) { set_up(); }

void MpiCommunicator::set_up() {
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

bool mpi_is_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

bool mpi_allows_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_MULTIPLE;
}

MpiCommunicator::~MpiCommunicator() {
  if (comm_ != MPI_COMM_NULL && !mpi_is_finalized()) MPI_Comm_free(&comm_);
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::split(int color) const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, rank_, &part), "MPI_Comm_split");
  if (part == MPI_COMM_NULL) return nullptr;
  return std::unique_ptr<MpiCommunicator>(new MpiCommunicator(Adopt{}, part));
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::split_by_node() const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part), "MPI_Comm_split_type");
  return std::unique_ptr<MpiCommunicator>(new MpiCommunicator(Adopt{}, part));
}

void MpiCommunicator::barrier() {
  MPI_Request request;
  check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  polite_wait(request, meanwhile_);
}

void MpiCommunicator::reduce(void* values, std::size_t count, MPI_Datatype type, MPI_Op op, std::size_t size) {
  auto* at = static_cast<char*>(values);
  while (count > 0) {
    const std::size_t now = std::min(count, piece / size);
    MPI_Request request;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, at, static_cast<int>(now), type, op, comm_, &request), "MPI_Iallreduce");
    polite_wait(request, meanwhile_);
    at += now * size;
    count -= now;
  }
}

void MpiCommunicator::sum(std::span<std::int64_t> v) { reduce(v.data(), v.size(), MPI_INT64_T, MPI_SUM, 8); }
void MpiCommunicator::minimum(std::span<std::int64_t> v) { reduce(v.data(), v.size(), MPI_INT64_T, MPI_MIN, 8); }
void MpiCommunicator::minimum(std::span<double> v) { reduce(v.data(), v.size(), MPI_DOUBLE, MPI_MIN, 8); }
void MpiCommunicator::maximum(std::span<std::int64_t> v) { reduce(v.data(), v.size(), MPI_INT64_T, MPI_MAX, 8); }
void MpiCommunicator::maximum(std::span<double> v) { reduce(v.data(), v.size(), MPI_DOUBLE, MPI_MAX, 8); }
void MpiCommunicator::bit_or(std::span<std::uint64_t> v) { reduce(v.data(), v.size(), MPI_UINT64_T, MPI_BOR, 8); }

namespace {

void post_pieces(std::vector<MPI_Request>& requests, std::byte* data, std::size_t bytes, int peer, bool send,
                 MPI_Comm comm) {
  for (std::size_t at = 0; at < bytes; at += piece) {
    const int now = static_cast<int>(std::min(piece, bytes - at));
    MPI_Request request;
    if (send) {
      check_mpi(MPI_Isend(data + at, now, MPI_BYTE, peer, tag, comm, &request), "MPI_Isend");
    } else {
      check_mpi(MPI_Irecv(data + at, now, MPI_BYTE, peer, tag, comm, &request), "MPI_Irecv");
    }
    requests.push_back(request);
  }
}

}  // namespace

void MpiCommunicator::exchange(std::vector<MPI_Request>& requests) {
  for (MPI_Request& request : requests) polite_wait(request, meanwhile_);
}

std::vector<Bytes> MpiCommunicator::gather(BytesView mine, int root) {
  std::uint64_t bytes = mine.size();
  std::vector<std::uint64_t> sizes(rank_ == root ? static_cast<std::size_t>(size_) : 0);
  MPI_Request request;
  check_mpi(MPI_Igather(&bytes, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, root, comm_, &request), "MPI_Igather");
  polite_wait(request, meanwhile_);
  std::vector<Bytes> parts(sizes.size());
  std::vector<MPI_Request> requests;
  auto* own = const_cast<std::byte*>(mine.data());
  if (rank_ != root) {
    post_pieces(requests, own, mine.size(), root, true, comm_);
  } else {
    for (int r = 0; r < size_; ++r) {
      if (r == root) {
        parts[r].assign(mine.begin(), mine.end());
      } else {
        parts[r].resize(sizes[r]);
        post_pieces(requests, parts[r].data(), parts[r].size(), r, false, comm_);
      }
    }
  }
  exchange(requests);
  return parts;
}

std::vector<Bytes> MpiCommunicator::all_gather(BytesView mine) {
  return all_to_all(std::vector<Bytes>(static_cast<std::size_t>(size_), Bytes(mine.begin(), mine.end())));
}

void MpiCommunicator::broadcast(Bytes& bytes, int root) {
  std::uint64_t total = bytes.size();
  MPI_Request request;
  check_mpi(MPI_Ibcast(&total, 1, MPI_UINT64_T, root, comm_, &request), "MPI_Ibcast");
  polite_wait(request, meanwhile_);
  bytes.resize(total);
  for (std::size_t at = 0; at < total; at += piece) {
    const int now = static_cast<int>(std::min<std::size_t>(piece, total - at));
    check_mpi(MPI_Ibcast(bytes.data() + at, now, MPI_BYTE, root, comm_, &request), "MPI_Ibcast");
    polite_wait(request, meanwhile_);
  }
}

std::vector<Bytes> MpiCommunicator::all_to_all(const std::vector<Bytes>& to) {
  std::vector<std::uint64_t> out(static_cast<std::size_t>(size_)), in(static_cast<std::size_t>(size_));
  for (int r = 0; r < size_; ++r) out[r] = to[r].size();
  MPI_Request request;
  check_mpi(MPI_Ialltoall(out.data(), 1, MPI_UINT64_T, in.data(), 1, MPI_UINT64_T, comm_, &request), "MPI_Ialltoall");
  polite_wait(request, meanwhile_);
  std::vector<Bytes> from(static_cast<std::size_t>(size_));
  std::vector<MPI_Request> requests;
  for (int r = 0; r < size_; ++r) {
    from[r].resize(in[r]);
    if (r == rank_) {
      from[r] = to[r];
      continue;
    }
    post_pieces(requests, from[r].data(), from[r].size(), r, false, comm_);
    post_pieces(requests, const_cast<std::byte*>(to[r].data()), to[r].size(), r, true, comm_);
  }
  exchange(requests);
  return from;
}

}  // namespace sidestream
