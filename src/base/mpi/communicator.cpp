#include "base/mpi/communicator.hpp"

#include <algorithm>

#include "base/mpi/polite_wait.hpp"
#include "sidestream/error.hpp"

namespace sidestream {

namespace {

std::unique_ptr<JointMember> try_to_make_member() {
  try {
    return std::make_unique<JointMember>();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

void agree_on_beginning(MPI_Comm comm, bool enough) {
  int failing = !enough;
  MPI_Request request;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MAX, comm, &request), "MPI_Iallreduce");
  polite_wait(request);
  if (failing) throw Error(Code::system, "a process is out of memory; give it more");
}

MpiCommunicator::MpiCommunicator(MPI_Comm comm) : member_(try_to_make_member()) {
  agree_on_beginning(comm, member_ != nullptr);
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  adopt(copy);
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::over(MPI_Comm comm) {
  std::unique_ptr<MpiCommunicator> made;
  try {
    made.reset(new MpiCommunicator(Unset{}));
  } catch (const std::bad_alloc&) {
    made.reset();
  }
  agree_on_beginning(comm, made != nullptr);
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  made->adopt(copy);
  return made;
}

void MpiCommunicator::adopt(MPI_Comm comm) {
  comm_ = comm;
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
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
  if (comm_ == MPI_COMM_NULL) return;
  if (joint_) {
    joint_->leave(std::move(member_));
    return;
  }
  if (!mpi_is_finalized()) MPI_Comm_free(&comm_);
}

void MpiCommunicator::check() const {
  if (joint_) joint_->check(*member_);
}

/// Makes a communicator from this one. Everything that may fail on a single process comes before that.
template <class Make>
std::unique_ptr<MpiCommunicator> MpiCommunicator::derive(Make&& make) const {
  std::unique_ptr<MpiCommunicator> part;
  bool enough = true;
  try {
    part.reset(new MpiCommunicator(Unset{}));
  } catch (const std::bad_alloc&) {
    if (joint_) throw;
    enough = false;
  }
  check();
  if (!joint_) agree_on_beginning(comm_, enough);
  MPI_Comm comm = MPI_COMM_NULL;
  make(&comm);
  if (comm == MPI_COMM_NULL) return nullptr;
  part->comm_ = comm;
  if (joint_) joint_->join(*part);
  part->adopt(comm);
  return part;
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::duplicate() {
  return derive([&](MPI_Comm* copy) { check_mpi(MPI_Comm_dup(comm_, copy), "MPI_Comm_dup"); });
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::group(int color) const {
  return derive([&](MPI_Comm* part) {
    check_mpi(MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, rank_, part), "MPI_Comm_split");
  });
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::split_by_node() const {
  return derive([&](MPI_Comm* part) {
    check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, part), "MPI_Comm_split_type");
  });
}

void MpiCommunicator::barrier() {
  check();
  MPI_Request request;
  check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  wait(request);
}

void MpiCommunicator::reduce(void* values, std::size_t count, MPI_Datatype type, MPI_Op op, std::size_t size) {
  check();
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

}  // namespace sidestream
