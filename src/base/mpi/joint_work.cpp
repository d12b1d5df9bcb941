#include "base/mpi/joint_work.hpp"

#include "base/mpi/agree.hpp"
#include "base/mpi/communicator.hpp"
#include "base/mpi/polite_wait.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

void ask(JointMember& member, bool failing) {
  member.failing = failing;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, &member.failing, 1, MPI_INT, MPI_MAX, member.comm, &member.request),
            "MPI_Iallreduce");
}

}  // namespace

void JointWork::await_members(JointMember& member) {
  static const std::function<void()> nothing;
  polite_wait(member.request, member.owner ? member.owner->meanwhile_ : nothing);
  member.broken = member.failing != 0;
}

JointWork::JointWork(MpiCommunicator& all, MpiCommunicator* second, MpiCommunicator* third) : all_(all) {
  join(all);
  if (second) join(*second);
  if (third) join(*third);
}

JointWork::~JointWork() { detach(); }

void JointWork::join(MpiCommunicator& communicator) {
  if (communicator.joint_) fail(Code::internal, "joint work begins within joint work");
  JointMember& member = *communicator.member_;
  member = {communicator.comm_, &communicator, 0, false, MPI_REQUEST_NULL, nullptr, nullptr};
  (last_ ? last_->next : first_) = &member;
  last_ = &member;
  communicator.joint_ = this;
}

void JointWork::leave(std::unique_ptr<JointMember> member) noexcept {
  member->owner = nullptr;
  member->left = std::move(left_);
  left_ = std::move(member);
}

void JointWork::check(JointMember& member) {
  if (!member.broken) {
    ask(member, false);
    await_members(member);
  }
  if (member.broken) throw Error(Code::system, "another process has failed");
}

/// Everybody gets here, whether it learned of a failure in some of its communicators or in none. The exceptions of
/// members that learned of one are ignored: somebody else threw first.
void JointWork::end(const std::exception_ptr& thrown) {
  bool others_know = false;
  for (const JointMember* m = first_; m; m = m->next) others_know |= m->broken;
  // Asks all at once: others may wait in any of them.
  for (JointMember* m = first_; m; m = m->next) {
    if (!m->broken) ask(*m, thrown != nullptr);
  }
  for (JointMember* m = first_; m; m = m->next) {
    if (m->request != MPI_REQUEST_NULL) await_members(*m);
  }
  const bool failed = first_->broken;  // the communicator of all
  detach();
  if (!failed) return;
  run_collectively(all_, [&] {
    if (thrown && !others_know) std::rethrow_exception(thrown);
  });
  throw Error(Code::internal, "a collective call failed, and nobody says why");
}

void JointWork::detach() noexcept {
  for (JointMember* m = first_; m; m = m->next) {
    if (m->owner) {
      m->owner->joint_ = nullptr;
    } else if (!mpi_is_finalized()) {
      MPI_Comm_free(&m->comm);
    }
  }
  first_ = last_ = nullptr;
  left_.reset();
}

/// Without agreement if the communicator is not of our type.
void jointly(Communicator& members, CallRef work) {
  auto* const mpi = dynamic_cast<MpiCommunicator*>(&members);
  if (!mpi) return work();
  JointWork joint(*mpi);
  joint.run(work);
}

}  // namespace sidestream
