// Feeds a session with the arrays that a program writes in steps.
#pragma once

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
#include "pieces.hpp"
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
/// twice. They stay in memory that can be written until the step ends, so that a program may write them again.
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

  /// Names of arrays that the program has, whether they are put or not: rules that fit none are said.
  void has(const std::set<std::string>& names) { others_.insert(names.begin(), names.end()); }

  /// Takes a part of this step. Values of a global array that come twice in a step count as they were read last.
  void put(const Part& part, Read when);
  /// True if a part of a global array that is put next is sure to be published, or needed by no task.
  [[nodiscard]] bool will_publish(const Part& part);
  /// Memory for the values of a part, contiguous, which the program fills before the step ends; null if the part is
  /// left out. `part.data` and strides are ignored. It lies in the session's shared memory if the part is known.
  [[nodiscard]] std::byte* lend(Part part);
  /// Reads the values of all parts that were put to be read later.
  void flush();
  /// The meshes of points that this rank put parts of in this step, also without values, as a text; see `end_step`.
  [[nodiscard]] std::string written() const;
  /// The meshes that one text or the other has.
  [[nodiscard]] static std::string either(std::string one, const std::string& other);
  /// For sentences on values that are left out: that others of the array came before in this step, or nothing.
  [[nodiscard]] std::string out_of_date(const std::string& array) const {
    return pieces_.have(array) ? "; values of it that are published in this step are older ones" : "";
  }
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
  /// The blocks of this rank on a mesh, by their boxes.
  struct Blocks {
    std::map<BoxKey, std::int64_t> ids;
    std::map<BoxKey, int> used;  ///< in this step, by how many pieces
    bool changing = false;       ///< one of them is no block yet; blocks do not overlap
  };
  struct Span {
    Part part;
    std::vector<std::byte> memory;
  };

  /// The array's description if the part has its type and shape.
  [[nodiscard]] const AgreedArray* find(const Part& part) const;
  /// The same; says why not.
  const AgreedArray* known(const Part& part);
  /// True if a task may read the array in this step. A cycle that a schedule counts is not known before its end.
  [[nodiscard]] bool is_needed(const AgreedArray& array);
  /// Memory of the session for a part whose block is known; null: another memory is needed.
  [[nodiscard]] std::byte* lend_shared(const Part& part);
  [[nodiscard]] bool is_block(const Part& part, const AgreedArray* array) const;
  [[nodiscard]] const std::int64_t* block_of(const AgreedArray& array, const Box& box) const;
  /// True if the blocks of this step can have a box once those of `gone` have left.
  [[nodiscard]] bool fits(const AgreedArray& array, const Box& box, const std::vector<Pieces::Place>& gone) const;
  /// Adds the box to those of this step, if it fits.
  void place(Piece& piece);
  void remove(Pieces::Place piece);
  void take(const Part& part, Read when);
  /// Writes a part over values of this step. Returns what is new of it.
  [[nodiscard]] std::vector<Part> write_over(const Part& part, const AgreedArray* array);
  void add(const Part& part, const AgreedArray* array, Read when);
  /// Moves values to the session's memory for a block. `copies`: the part has values.
  void lay(Piece& piece, std::int64_t block, bool copies);
  void say_not_whole(const Part& part) {
    say("array '" + part.name + "': left out, since the part has not all components");
  }
  void say_out_of_place(const Piece& piece);
  void start();
  void declare();
  [[nodiscard]] Mapping rules();
  /// The rules of the file, on rank 0; `problem` says why they cannot be read.
  [[nodiscard]] Mapping rules_of_file(std::string& problem) const;
  /// Says which rules of the file fit no array, and which of its meshes have none, on rank 0.
  void say_unused(const Mapping& of_file);
  /// Places a piece that is not placed yet; says why if it cannot be.
  void settle(Piece& piece);
  void publish(Piece& piece);
  /// Publishes all pieces. Blocks are declared anew where they have changed.
  void publish_all(const std::string& written);
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
  std::set<std::string> others_;  ///< arrays that the program has
  std::optional<Session> session_;
  Agreed agreed_;
  std::vector<Blocks> blocks_;           ///< by mesh
  Pieces pieces_;                        ///< of this step
  std::deque<Part> later_;               ///< parts of this step that are not read yet
  std::deque<Span> spans_;               ///< memory that the program fills, over values of this step
  std::set<std::string> empty_;          ///< arrays that came without values in this step
  std::map<std::string, Index> listed_;  ///< numbers of values of local arrays in this step
  std::map<std::pair<std::size_t, std::int64_t>, std::map<int, const Part*>> places_;  ///< by mesh, block and axis
  interop::Sentences sentences_;
  bool failed_ = false, closed_ = false;
};

}  // namespace sidestream::arrays
