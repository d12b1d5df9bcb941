// Work of several communicators in which an exception on one process ends it on all, wherever they are in it.
#pragma once

#include <mpi.h>

#include <exception>
#include <memory>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

class MpiCommunicator;

/// What joint work knows of one communicator. There before the communicator is, so that nothing fails once it is.
struct JointMember {
  MPI_Comm comm = MPI_COMM_NULL;
  MpiCommunicator* owner = nullptr;  ///< null: it has gone, and the communicator is freed at the end
  int failing = 0;
  bool broken = false;  ///< some member has failed; known to all of them
  MPI_Request request = MPI_REQUEST_NULL;
  std::unique_ptr<JointMember> left;  ///< the one that was left by its owner before
  JointMember* next = nullptr;
};

/// Opening, starting and closing are collective over several communicators at once: everybody, a node, the servers.
/// While such work runs, the members of each ask each other before each collective call whether all have got there. One
/// whose work has thrown says no, in every communicator that it is in, at once; those who hear it throw too and do the
/// same. So all leave, in whatever order they wait for each other. It costs a reduction of one number each time.
///
/// It does not nest. Communicators that are made from one of these join. None is freed before the end, when all have
/// left it.
class JointWork {
 public:
  /// Everybody who takes part, and those made before that the work uses, if they are there; the same on all.
  JointWork(MpiCommunicator& all, MpiCommunicator* second = nullptr, MpiCommunicator* third = nullptr);
  ~JointWork();
  JointWork(const JointWork&) = delete;
  JointWork& operator=(const JointWork&) = delete;

  /// Once, on everybody. If it throws anywhere, throws on all, the Error of the lowest member whose own it was.
  template <class Work>
  void run(Work&& work) {
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    end(thrown);
  }

 private:
  friend class MpiCommunicator;
  void join(MpiCommunicator& communicator);
  /// `member`'s owner goes; the communicator stays until the end.
  void leave(std::unique_ptr<JointMember> member) noexcept;
  static void hear(JointMember& member);
  /// Collective over `member`. Throws if another has failed.
  void check(JointMember& member);
  void end(const std::exception_ptr& thrown);
  void detach() noexcept;

  MpiCommunicator& all_;
  JointMember* first_ = nullptr;
  JointMember* last_ = nullptr;
  std::unique_ptr<JointMember> left_;
};

/// `communicator` if joint work can be done over it, else null.
[[nodiscard]] MpiCommunicator* joint_candidate(Communicator& communicator);

/// Collective over one communicator; the work alone if it is not of ours. Joint work does not nest: who catches what it
/// throws would be alone with it.
template <class Work>
void jointly(Communicator& all, Work&& work) {
  MpiCommunicator* const mpi = joint_candidate(all);
  if (!mpi) return work();
  JointWork joint(*mpi);
  joint.run(work);
}

}  // namespace sidestream
