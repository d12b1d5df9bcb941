// A simulation for the tests of meshes of 1, 2 and 3 dimensions. It has a variable of each centring, whose values
// depend on the position. The mesh is cut at random among the clients, with `changing` anew in each iteration. Arrays
// end where a page ends and no other follows, so that reading too much is a crash. Around the blocks there are `ghosts`
// points. With `uneven` there are 0 to 2, which differ between blocks, variables and sides. Ghosts hold -7. With
// `fill=own` they hold values that no other block has there, with `fill=right` those of the owners, also along the axes
// in `periodic`. With `still` some variables are published once.
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "program.hpp"

using sidestream::Box;
using sidestream::Centering;
using sidestream::Index;
using sidestream::Order;
using sidestream::Type;
using sidestream::Variable;

namespace {

/// Memory after whose end nothing can be read.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t whole = (bytes + page - 1) / page * page;
    size_ = whole + page;
    start_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED || mprotect(start_ + whole, page, PROT_NONE) != 0) std::abort();
    data_ = start_ + whole - bytes;
  }
  ~Guarded() { munmap(start_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  [[nodiscard]] std::byte* data() { return data_; }

 private:
  std::byte *start_ = nullptr, *data_ = nullptr;
  std::size_t size_ = 0;
};

/// The value that the test expects at a point.
double value_at(Index i, Index j, Index k, int c, long step) {
  return static_cast<double>(i + 50 * j + 2500 * k + 125000 * c + 250000 * step);
}

struct Block {
  std::int64_t id;
  Box cells;
};

class Program {
 public:
  Program(const Options& options, sidestream::Session& session, int rank, int size)
      : dimensions_(static_cast<int>(options.number("dimensions", 3))),
        ghosts_(options.number("ghosts", 0)),
        uneven_(options.number("uneven", 0) != 0),
        still_(options.number("still", 0) != 0),
        fill_(options.text("fill")),
        periodic_(options.text("periodic")),
        changing_(options.number("changing", 0) != 0),
        count_(options.number("blocks", 3) * size),
        rank_(rank),
        size_(size),
        session_(session) {
    const Index size_on[3] = {11, 7, 5};
    for (int a = 0; a < 3; ++a) mesh_.hi[a] = a < dimensions_ ? size_on[a] : 1;
    declare(options.number("calls", 0) != 0);
    divide(0);
  }

  void publish(long step) {
    if (changing_ && step > 0) divide(step);
    for (const Variable& variable : variables_) {
      if (still_ && step > 0 && !changing_ && &variable - variables_.data() >= 5) continue;
      for (const Block& block : blocks_) publish(variable, block, step);
    }
  }

 private:
  /// Declares the same as the test's configuration.
  void declare(bool by_calls) {
    for (int c = 0; c < sidestream::centering_count; ++c) {
      Variable v;
      v.name = "v" + std::to_string(c);
      v.centering = static_cast<Centering>(c);
      v.type = c % 2 ? Type::float64 : Type::int32;
      v.components = c % 3 == 1 ? 2 : 1;
      v.order = c % 4 < 2 ? Order::column : Order::row;
      variables_.push_back(v);
    }
    if (!by_calls) return;
    std::vector<Index> size;
    for (int a = 0; a < dimensions_; ++a) size.push_back(mesh_.hi[a]);
    const std::vector<double> origin(size.size(), 0), spacing(size.size(), 0.5);
    session_.add_uniform_mesh("m", size, origin, spacing);
    for (const Variable& v : variables_) session_.add_variable("m", v);
  }

  /// Cuts the mesh at random, in the same way on every client. The order of ids is not that of positions. With
  /// `changing` the first client has no blocks, every third iteration has a block less, and the program prints the
  /// blocks.
  void divide(long step) {
    for (const Block& block : blocks_) session_.remove_block("m", block.id);
    blocks_.clear();
    std::mt19937 random(static_cast<unsigned>(17 + dimensions_ + step));
    std::vector<Box> boxes{mesh_};
    while (static_cast<long>(boxes.size()) < count_) {
      const auto largest = std::max_element(boxes.begin(), boxes.end(),
                                            [](const Box& a, const Box& b) { return a.count() < b.count(); });
      int axis = static_cast<int>(random() % 3u);
      for (int tries = 0; largest->extent(axis) < 2 && tries < 3; ++tries) axis = (axis + 1) % 3;
      if (largest->extent(axis) < 2) break;
      Box rest = *largest;
      const Index cut = rest.lo[axis] + 1 + static_cast<Index>(random() % static_cast<unsigned>(rest.extent(axis) - 1));
      largest->hi[axis] = rest.lo[axis] = cut;
      boxes.push_back(rest);
    }
    std::shuffle(boxes.begin(), boxes.end(), random);
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const auto id = static_cast<std::int64_t>(b);
      const int owner = changing_ && size_ > 1 ? 1 + static_cast<int>(b) % (size_ - 1) : static_cast<int>(b) % size_;
      if (owner != rank_ || (changing_ && step % 3 == 1 && id == 0)) continue;
      if (changing_) say(step, boxes[b]);
      blocks_.push_back({id, boxes[b]});
      session_.set_block("m", id, boxes[b]);
      if (ghosts_ == 0 && !uneven_) continue;
      for (const Variable& v : variables_) session_.set_allocated(v.name, id, allocated(v, blocks_.back()));
    }
  }

  static void say(long step, const Box& box) {
    std::printf("block %ld %ld %ld %ld %ld %ld %ld\n", step, box.lo[0], box.lo[1], box.lo[2], box.hi[0], box.hi[1],
                box.hi[2]);
  }

  /// The box of the variable's points and of the ghosts along the axes that the mesh uses.
  [[nodiscard]] Box allocated(const Variable& v, const Block& block) const {
    Box box = sidestream::points_of(sidestream::reduced(v.centering, dimensions_), block.cells);
    const auto c = static_cast<Index>(v.centering);
    for (int a = 0; a < dimensions_; ++a) {
      box.lo[a] -= !uneven_ ? ghosts_ : c % 3 == 0 ? 0 : (block.id + c + a) % 3;
      box.hi[a] += !uneven_ ? ghosts_ : c % 3 == 0 ? 0 : (block.id + 2 * c + a + 1) % 3;
    }
    return box;
  }

  [[nodiscard]] double ghost_at(const Variable& v, const Block& block, const Index* p, int c, long step) const {
    if (fill_.empty()) return -7;
    if (fill_ == "own") return static_cast<double>(-1000 * (block.id + 1) - (7 * p[0] + 3 * p[1] + p[2] + c) % 50);
    const Box all = sidestream::points_of(sidestream::reduced(v.centering, dimensions_), mesh_);
    Index q[3];
    for (int a = 0; a < 3; ++a) {
      q[a] = p[a];
      const bool goes_on = periodic_.find("xyz"[a]) != std::string::npos;
      while (goes_on && q[a] < all.lo[a]) q[a] += mesh_.extent(a);
      while (goes_on && q[a] >= all.hi[a]) q[a] -= mesh_.extent(a);
    }
    return all.contains(sidestream::Index3{q[0], q[1], q[2]}) ? value_at(q[0], q[1], q[2], c, step) : -9;
  }

  template <class T>
  void fill(T* out, const Variable& v, const Block& block, const Box& box, long step) const {
    const Box real = sidestream::points_of(sidestream::reduced(v.centering, dimensions_), block.cells);
    const bool column = v.order == Order::column;
    const int slow = column ? 2 : 0, fast = 2 - slow;
    Index p[3];
    for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) {
      for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
        for (p[fast] = box.lo[fast]; p[fast] < box.hi[fast]; ++p[fast]) {
          const bool ghost = !real.contains(sidestream::Index3{p[0], p[1], p[2]});
          for (int c = 0; c < v.components; ++c) {
            *out++ = static_cast<T>(ghost ? ghost_at(v, block, p, c, step) : value_at(p[0], p[1], p[2], c, step));
          }
        }
      }
    }
  }

  void publish(const Variable& v, const Block& block, long step) {
    const Box box = allocated(v, block);
    Guarded memory(static_cast<std::size_t>(box.count() * v.components) * sidestream::size_of(v.type));
    if (v.type == Type::float64) {
      fill(reinterpret_cast<double*>(memory.data()), v, block, box, step);
    } else {
      fill(reinterpret_cast<std::int32_t*>(memory.data()), v, block, box, step);
    }
    static_cast<void>(session_.publish(
        v.name, block.id,
        sidestream::Values(v.type, memory.data(), static_cast<std::size_t>(box.count() * v.components))));
  }

  int dimensions_;
  Index ghosts_;
  bool uneven_, still_;
  std::string fill_, periodic_;
  bool changing_;
  long count_;
  int rank_, size_;
  Box mesh_;
  sidestream::Session& session_;
  std::vector<Variable> variables_;
  std::vector<Block> blocks_;
};

void run(sidestream::Session& session, const Options& options) {
  int rank = 0, size = 1;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  Program program(options, session, rank, size);
  session.start();
  for (long step = 0; step < options.number("steps", 2); ++step) {
    program.publish(step);
    static_cast<void>(session.end_iteration(step, static_cast<double>(step)));
  }
  const sidestream::Account a = session.close();
  std::printf("account rank=%d iterations=%ld delivered=%ld refused=%ld failed=%ld unknown=%ld absent=%ld\n", rank,
              a.iterations, a.delivered, a.refused, a.failed, a.unknown, a.absent_blocks);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int status = run_in_turn(argc, argv, [](int count, char** arguments, MPI_Comm comm) {
    return run_session(
        Options(count, arguments), comm, [](sidestream::Session&) {}, run);
  });
  MPI_Finalize();
  return status;
}
