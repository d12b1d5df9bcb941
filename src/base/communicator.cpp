#include "base/communicator.hpp"

#include <algorithm>
#include <new>

#include "base/polite_wait.hpp"

namespace sidestream {

MpiCommunicator::MpiCommunicator(MPI_Comm comm) {
  check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
  set_up();
}

MpiCommunicator::MpiCommunicator(Adopt, MPI_Comm comm) : comm_(comm) { set_up(); }

void MpiCommunicator::set_up() {
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  bool enough = true;
  try {
    const auto members = static_cast<std::size_t>(size_);
    out_sizes_.resize(members);
    in_sizes_.resize(members);
    counts_.resize(members);
    places_.resize(members);
  } catch (const std::bad_alloc&) {
    enough = false;
  }
  agree_on_memory(enough);
}

void MpiCommunicator::wait(MPI_Request& request) const { polite_wait(request, meanwhile_); }

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

std::unique_ptr<MpiCommunicator> MpiCommunicator::group(int color) const {
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
  wait(request);
}

void MpiCommunicator::reduce(void* values, std::size_t count, MPI_Datatype type, MPI_Op op, std::size_t size) {
  auto* at = static_cast<char*>(values);
  while (count > 0) {
    const std::size_t now = std::min(count, piece_ / size);
    MPI_Request request;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, at, static_cast<int>(now), type, op, comm_, &request), "MPI_Iallreduce");
    wait(request);
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

std::int64_t MpiCommunicator::exclusive_sum(std::int64_t value) {
  std::int64_t sum = 0;
  MPI_Request request;
  check_mpi(MPI_Iexscan(&value, &sum, 1, MPI_INT64_T, MPI_SUM, comm_, &request), "MPI_Iexscan");
  wait(request);
  return rank_ == 0 ? 0 : sum;
}

}  // namespace sidestream
