// Feeds a session with the arrays that a program writes in steps.
#pragma once

#include <array>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sidestream/sidestream.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "mapping.hpp"
#include "opening.hpp"
#include "part.hpp"
#include "ranks.hpp"

namespace sidestream::arrays {

/// The moment when a part's values are read.
enum class Read {
  now,    ///< in `put`; the program may change them afterwards
  later,  ///< at the next `flush` or `end_step`
};

/// The arrays of a program, whose session opens at the end of the first step with arrays: nobody knows them before.
///
/// That end is collective, as are those of earlier steps and `close`; later ends communicate only with `placement:
/// inline`. No function throws: what is left out is said on standard error, each sentence once, and the program goes
/// on. Values are copied once, or not at all if no task needs them, or in memory that `lend` gave; in the first step
/// twice.
class Feed {
 public:
  /// `mapping` is the path of a file with rules (see mapping.hpp), which rank 0 reads; empty: none.
  Feed(std::unique_ptr<Ranks> ranks, std::string configuration, std::string mapping);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// True until the first step with arrays has ended: only before, `suggest` and array names count.
  [[nodiscard]] bool unknown() const noexcept { return !session_ && !failed_; }
  /// True if the session could not start, on all ranks; then everything is left out.
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  /// Adds rules that count where the file says nothing. Before the first step ends.
  void suggest(const Mapping& rules) { suggested_.add(rules); }

  /// Takes a part of this step. A box of an array that comes twice in a step counts once.
  void put(const Part& part, Read when);
  /// Memory for the values of a part, contiguous, which the program fills before the step ends; null if the part is
  /// left out. `part.data` and strides are ignored. It lies in the session's shared memory if the part is known.
  [[nodiscard]] std::byte* lend(Part part);
  /// Reads the values of all parts that were put to be read later.
  void flush();
  /// The meshes of points that this rank put parts of in this step, also without values, as a text; see `end_step`.
  [[nodiscard]] std::string written() const;
  /// The meshes that one text or the other has.
  [[nodiscard]] static std::string either(std::string one, const std::string& other);
  /// Ends the step. `cycle` is the same on all ranks; the time of the first rank counts. `written` is what `written` of
  /// all ranks has: this rank has no points on these meshes if it put none; on other meshes its blocks are absent.
  void end_step(std::int64_t cycle, double time, const std::string& written = "");
  /// True if parts were put since the last step ended, on any rank. Collective.
  [[nodiscard]] bool has_parts() const;
  /// Closes the session. Collective. Nothing happens the second time.
  void close();
  void say(const std::string& problem) { sentences_.say(problem); }
  /// Says what all ranks would say, on the first one only.
  void say_first(const std::string& problem) {
    if (ranks_->rank() == 0) say(problem);
  }

 private:
  /// A part of this step that has not been published. The values are the program's, or a copy.
  struct Waiting {
    Part part;
    std::vector<std::byte> copy;
  };
  /// The blocks of this rank on a mesh, by their boxes.
  struct Blocks {
    std::map<BoxKey, std::int64_t> ids;
    std::set<BoxKey> used;  ///< in this step
    bool changing = false;  ///< one of them is no block yet; blocks do not overlap
  };
  struct Lent {
    std::string variable;
    std::int64_t block;
  };

  /// The array's description, and the box of a part; null, with a sentence, if the part is left out.
  const AgreedArray* known(const Part& part, Box& box);
  /// True if a task may read the array in this step. A cycle that a schedule counts is not known before its end.
  [[nodiscard]] bool is_needed(const AgreedArray& array);
  /// Adds a box to those of this step; false, with a sentence, if it came before or overlaps another one.
  bool use(const Part& part, const AgreedArray& array, const Box& box);
  [[nodiscard]] const std::int64_t* block_of(const AgreedArray& array, const Box& box) const;
  void take(const Part& part, Read when);
  void say_twice(const std::string& array) {
    say("array '" + array + "': the same part came twice in a step; the first one counts");
  }
  void publish(const AgreedArray& array, const Part& part, std::int64_t block);
  void start();
  void declare();
  [[nodiscard]] Mapping rules();
  /// Places what waits in blocks, which are declared anew where they have changed, and publishes it.
  void publish_waiting(const std::string& written);
  void update_blocks(std::size_t mesh, bool written);
  void publish_counts(const AgreedMesh& mesh, std::int64_t block, Index count);
  void publish_places();
  /// Calls a function; says why it failed.
  template <class Function>
  void guarded(const Function& function) {
    try {
      function();
    } catch (const std::exception& error) {
      say(error.what());
    }
  }

  std::unique_ptr<Ranks> ranks_;
  std::string configuration_, mapping_;
  Mapping suggested_;
  std::optional<Session> session_;
  Agreed agreed_;
  std::vector<Blocks> blocks_;  ///< by mesh
  std::deque<Waiting> waiting_;
  std::vector<Lent> lent_;
  std::set<std::pair<std::string, BoxKey>> put_;  ///< arrays and boxes of this step
  std::set<std::string> empty_;                   ///< arrays that came without values in this step
  std::map<std::string, Index> listed_;           ///< numbers of values of local arrays in this step
  std::map<std::pair<std::size_t, std::int64_t>, std::map<int, const Part*>> places_;  ///< by mesh, block and axis
  interop::Sentences sentences_;
  bool failed_ = false, closed_ = false;
};

}  // namespace sidestream::arrays
