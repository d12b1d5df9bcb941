#include "staging/step_builder.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::staging {

namespace {

class Check {
 public:
  Check(const StepIndex& step, const Metadata& declared, const std::string& path)
      : step_(step), declared_(declared), path_(path) {}

  void run() {
    if (step_.writers < 1) wrong("{} writers", step_.writers);
    for (const Block& block : step_.blocks) check(block);
    for (const StepRecord& record : step_.records) check(record);
    for (const BlockRange& range : step_.ranges) check(range.variable, range.component, range.block);
    for (const CountedRange& range : step_.counted) {
      for (const std::int64_t id : {range.block, range.beside}) check(range.variable, range.component, id);
    }
  }

 private:
  template <class... Args>
  [[noreturn]] void wrong(fmt::format_string<Args...> format, Args&&... args) const {
    fail(Code::file,
         "'{}' does not agree with the declarations of its stream: found {}; somebody else than the simulation wrote "
         "it, or wrote the declarations",
         path_, fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] const Variable& variable(std::int32_t id, const char* whose) const {
    const bool known = id >= 0 && static_cast<std::size_t>(id) < declared_.variables.size();
    if (!known) wrong("{} of variable {} of {}", whose, id, declared_.variables.size());
    return declared_.variables[static_cast<std::size_t>(id)];
  }

  /// All cells of the mesh on that level.
  [[nodiscard]] Box cells(const Mesh& mesh, const Block& block) const {
    if (block.level < 0 || static_cast<std::size_t>(block.level) > mesh.refinement.size()) {
      wrong("block {} on level {} of the mesh '{}', which has {}", block.id, block.level, mesh.name,
            mesh.refinement.size() + 1);
    }
    Box all = mesh.cells;
    const Index3 ratio = mesh.ratio_to(block.level);
    for (int axis = 0; axis < 3; ++axis) {
      if (__builtin_mul_overflow(all.lo[axis], ratio[axis], &all.lo[axis]) ||
          __builtin_mul_overflow(all.hi[axis], ratio[axis], &all.hi[axis])) {
        wrong("more cells than can be counted on level {} of the mesh '{}'", block.level, mesh.name);
      }
    }
    return all;
  }

  void check(const Block& block) {
    if (block.mesh < 0 || static_cast<std::size_t>(block.mesh) >= declared_.meshes.size()) {
      wrong("block {} of mesh {} of {}", block.id, block.mesh, declared_.meshes.size());
    }
    const Mesh& mesh = declared_.meshes[static_cast<std::size_t>(block.mesh)];
    if (!ids_.insert({block.mesh, block.id}).second) wrong("block {} of '{}' twice", block.id, mesh.name);
    if (mesh.is_list() || block.is_list()) return check_list(mesh, block);
    if (block.space != mesh.space_of(block.cells))
      wrong("block {} of '{}' counted in an unknown way", block.id, mesh.name);
    const Box all = cells(mesh, block);
    for (int axis = 0; axis < 3; ++axis) {
      // An empty block may lie anywhere as long as indices of neighbours do not overflow.
      constexpr Index far = Index{1} << 62;
      const Index lo = block.cells.lo[axis], hi = block.cells.hi[axis];
      if (lo > hi || lo < -far || hi > far) wrong("block {} from {} to {}", block.id, lo, hi);
    }
    if (!all.contains(block.cells)) wrong("block {} outside its mesh '{}'", block.id, mesh.name);
  }

  void check_list(const Mesh& mesh, const Block& block) {
    constexpr Index far = Index{1} << 62;
    const ListLengths& n = block.lengths;
    if (!mesh.is_list() || block.space != IndexSpace::list || block.level != 0) {
      wrong("block {} of '{}' counted in another way than its mesh", block.id, mesh.name);
    }
    if (!(block.cells == list_box(block.cells.hi[0]))) wrong("block {} of '{}' as no list", block.id, mesh.name);
    for (const Index length : {block.cells.hi[0], n.points, n.corners, n.faces}) {
      if (length < 0 || length > far) wrong("block {} of '{}' with {} entries", block.id, mesh.name, length);
    }
  }

  void check(const StepRecord& record) {
    const Variable& of = variable(record.variable, "values");
    const Block& block = step_.blocks[static_cast<std::size_t>(record.block)];
    const auto differs = [&](std::string_view what) {
      wrong("values of '{}' on block {} with other {} than it has there", of.name, block.id, what);
    };
    if (of.mesh != block.mesh) differs("cells (of another mesh)");
    if (record.type != of.type) differs("numbers (of another type)");
    if (record.components != of.components) differs("components");
    if (!covers(record.points, of.points(block), block)) differs("points");
    if (record.bytes != bytes_of(record)) differs("bytes");
    std::uint64_t end = 0;
    if (__builtin_add_overflow(record.offset, record.bytes, &end) || end >> 62 != 0) differs("places in their file");
    if (!records_.insert({record.variable, block.id}).second) {
      wrong("values of '{}' on block {} twice", of.name, block.id);
    }
  }

  /// The array of a block that is a box may have points around the block.
  [[nodiscard]] static bool covers(const Box& box, const Box& points, const Block& block) {
    constexpr Index far = Index{1} << 62;
    if (block.is_list() || points.empty()) return box == points;
    for (std::size_t a = 0; a < 3; ++a) {
      if (box.lo[a] < -far || box.hi[a] > far) return false;
    }
    return box.contains(points);
  }

  [[nodiscard]] std::uint64_t bytes_of(const StepRecord& record) const {
    try {
      return packed_bytes(record.points, record.components, record.type);
    } catch (const Error&) {
      wrong("an array with more bytes than can be counted");
    }
  }

  /// Checks the names in a range.
  void check(std::int32_t variable_id, std::int32_t component, std::int64_t block) const {
    const Variable& of = variable(variable_id, "extremes");
    if (component < 0 || component >= of.components || !ids_.contains({of.mesh, block})) {
      wrong("extremes of component {} of '{}' on block {}", component, of.name, block);
    }
  }

  const StepIndex& step_;
  const Metadata& declared_;
  const std::string& path_;
  std::set<std::pair<std::int32_t, std::int64_t>> ids_;      ///< mesh and id of blocks
  std::set<std::pair<std::int32_t, std::int64_t>> records_;  ///< variable and block
};

}  // namespace

void check_step(const StepIndex& step, const Metadata& declared, const std::string& path) {
  Check(step, declared, path).run();
}

}  // namespace sidestream::staging
