// Joint work over several communicators: an exception on one process ends it on all, wherever they are in it.
#pragma once

#include <mpi.h>

#include <exception>
#include <memory>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

class MpiCommunicator;

/// The state of one communicator in joint work. Made before the communicator is, so that nothing fails afterwards.
struct JointMember {
  MPI_Comm comm = MPI_COMM_NULL;
  MpiCommunicator* owner = nullptr;  ///< null: it is destroyed, and the communicator is freed at the end
  int failing = 0;
  bool broken = false;  ///< some member has failed; known to all of them
  MPI_Request request = MPI_REQUEST_NULL;
  std::unique_ptr<JointMember> left;  ///< the one that its owner left before
  JointMember* next = nullptr;
};

/// Runs work that is collective over several communicators at once: opening, starting and closing involve everybody, a
/// node, and the servers.
/// While such work runs, the members of each communicator ask each other before each collective call if all have got
/// there. A member whose work has thrown says no at once, in every communicator that it is in; those who hear it throw
/// too and do the same. So all leave, in whatever order they wait for each other. The price is a reduction of one
/// number each time.
///
/// It does not nest. Communicators that are made from one of these join. None is freed before the end, when all have
/// left it.
class JointWork {
 public:
  /// `all` has everybody who takes part. The others were made before and are used by the work, if they exist. The same
  /// on all.
  JointWork(MpiCommunicator& all, MpiCommunicator* second = nullptr, MpiCommunicator* third = nullptr);
  ~JointWork();
  JointWork(const JointWork&) = delete;
  JointWork& operator=(const JointWork&) = delete;

  /// Runs `work` once on every member. If it throws anywhere, all throw the Error of the lowest member that threw
  /// first.
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
  /// Called when `member`'s owner is destroyed; the communicator stays until the end.
  void leave(std::unique_ptr<JointMember> member) noexcept;
  static void await_members(JointMember& member);
  /// Throws if another member has failed. Collective over `member`.
  void check(JointMember& member);
  void end(const std::exception_ptr& thrown);
  void detach() noexcept;

  MpiCommunicator& all_;
  JointMember* first_ = nullptr;
  JointMember* last_ = nullptr;
  std::unique_ptr<JointMember> left_;
};

}  // namespace sidestream
