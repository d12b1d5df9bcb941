// An analysis for the tests. It asks for a variable of mesh_program, both in the blocks that were published and in
// pieces of a decomposition. It looks at every point of both, and counts wrong and right values.
#include <cmath>
#include <cstring>

#include "sidestream/extend/plugin.hpp"

namespace {

using namespace sidestream;

double value_at(const Index3& p, int c, std::int64_t step) {
  return static_cast<double>(p[0] + 50 * p[1] + 2500 * p[2] + 125000 * c + 250000 * step);
}

template <class F>
void for_each_point(const Box& box, F&& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(Index3{i, j, k});
    }
  }
}

/// Counts that are summed over the servers. Trivially copyable; sent between servers.
enum Sum {
  blocks,
  block_points,
  block_wrong,
  block_missing,
  pieces,
  cells,
  points,
  places,
  wrong,
  absent,
  readable,
  sums
};
constexpr const char* names[] = {"blocks", "block_points", "block_wrong", "block_missing", "pieces",  "cells",
                                 "points", "places",       "wrong",       "absent",        "readable"};
using Sums = std::array<std::int64_t, sums>;

class SumsOfPieces final : public Task {
 public:
  SumsOfPieces(const Settings& settings, const Metadata& metadata)
      : variable_(metadata.variables[static_cast<std::size_t>(metadata.find_variable(settings.text("variable"))->id)]),
        mesh_(metadata.mesh_of(variable_)),
        halo_(static_cast<std::int32_t>(settings.integer("halo"))),
        file_(settings.text("file")) {
    const std::string kind = settings.text("pieces");
    pieces_.kind = kind == "slabs"     ? Decomposition::Kind::slabs
                   : kind == "pencils" ? Decomposition::Kind::pencils
                                       : Decomposition::Kind::bricks;
    pieces_.axis = static_cast<std::int32_t>(settings.integer("axis"));
  }

  [[nodiscard]] Selection selection() const override {
    return {{Selected(variable_.id, halo_), Selected(variable_.id, halo_, AllBlocks{}, pieces_)}};
  }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    const Sums found = look(input);
    Bytes bytes(sizeof found);
    std::memcpy(bytes.data(), found.data(), sizeof found);
    return bytes;
  }

  Bytes combine(const CombineInput& input) override {
    Sums all{};
    for (const Bytes& partial : input.partials) {
      Sums one{};
      std::memcpy(one.data(), partial.data(), sizeof one);
      for (std::size_t n = 0; n < sums; ++n) all[n] += one[n];
    }
    // The blocks are those that `local` saw, unless other processes have reduced them.
    if (input.local != nullptr) {
      const Sums again = look(*input.local);
      all[readable] =
          input.partials.size() == 1 && std::memcmp(again.data(), input.partials[0].data(), sizeof again) == 0;
    }
    input.communicator.sum(all);
    input.results.add(file_, Table({std::begin(names), std::end(names)}, {{all.begin(), all.end()}}));
    return {};
  }

 private:
  [[nodiscard]] Sums look(const LocalInput& input) const {
    Sums found{};
    for (const BlockView& view : input.at(0)) look_at_block(view, input.iteration.cycle, found);
    if (input.at(1).size() > 1) throw Error(Code::analysis, "more than one piece on a server");
    for (const BlockView& view : input.at(1)) look_at_piece(view, input, found);
    return found;
  }
  /// Replaces `p` by the point of the mesh of which it is a periodic image. False if there is none.
  bool inside(Index3& p) const {
    const Box all = variable_.points(mesh_.cells);
    for (std::size_t a = 0; a < 3; ++a) {
      const Index n = mesh_.cells.extent(static_cast<int>(a));
      while (mesh_.periodic[a] && p[a] < all.lo[a]) p[a] += n;
      while (mesh_.periodic[a] && p[a] >= all.hi[a]) p[a] -= n;
    }
    return all.contains(p);
  }
  [[nodiscard]] Box grown_by_halo(Box box, bool to_faces) const {
    const Box all = variable_.points(mesh_.cells);
    for (int a = 0; a < mesh_.dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      const bool ends = to_faces && !mesh_.periodic[n];
      box.lo[n] = ends ? std::max(box.lo[n] - halo_, all.lo[n]) : box.lo[n] - halo_;
      box.hi[n] = ends ? std::min(box.hi[n] + halo_, all.hi[n]) : box.hi[n] + halo_;
    }
    return box;
  }
  /// Counts wrong values that `gather` gives, and values that it lacks although the mesh has them.
  void gather(const BlockView& view, const Box& region, std::int64_t step, std::int64_t& bad,
              std::int64_t& missing) const {
    const int c = variable_.components - 1;
    std::vector<double> values(static_cast<std::size_t>(region.count()));
    static_cast<void>(view.gather(region, c, values.data()));
    std::size_t n = 0;
    for_each_point(region, [&](const Index3& p) {
      Index3 q = p;
      const double value = values[n++];
      if (!inside(q)) {
        bad += !std::isnan(value);
      } else if (std::isnan(value)) {
        ++missing;
      } else {
        bad += value != value_at(q, c, step);
      }
    });
  }

  void look_at_block(const BlockView& view, std::int64_t step, Sums& found) const {
    ++found[blocks];
    for (const Box& box : view.counted()) found[block_points] += box.count();
    if (halo_ > 0) gather(view, grown_by_halo(view.points, false), step, found[block_wrong], found[block_missing]);
  }

  void look_at_piece(const BlockView& view, const LocalInput& input, Sums& found) const {
    ++found[pieces];
    found[cells] += view.block.cells.count();
    const bool right = view.block.id == -1 - input.server && view.points == variable_.points(view.block.cells) &&
                       view.block.cells == piece_of(pieces_, mesh_, input.servers, input.server) &&
                       view.array.box == grown_by_halo(view.points, true) &&
                       view.array.strides == packed_strides(view.array.box, variable_.components, variable_.order);
    found[wrong] += !right;
    for (const Box& box : view.counted()) {
      found[points] += box.count();
      for_each_point(box, [&](const Index3& p) { found[places] += p[0] + 50 * p[1] + 2500 * p[2]; });
    }
    std::int64_t without = 0, missing = 0;
    for_each_point(view.array.box,
                   [&](const Index3& p) { without += look_at_point(view, p, input.iteration.cycle, found); });
    gather(view, view.array.box, input.iteration.cycle, found[wrong], missing);
    found[wrong] += missing != without;
  }

  /// True if the point has no values.
  bool look_at_point(const BlockView& view, const Index3& p, std::int64_t step, Sums& found) const {
    const bool is_absent =
        std::any_of(view.absent.begin(), view.absent.end(), [&](const Box& box) { return box.contains(p); });
    found[absent] += is_absent && view.points.contains(p);
    Index3 q = p;
    if (!inside(q)) ++found[wrong];
    for (int c = 0; c < variable_.components; ++c) {
      with_type(variable_.type, [&](auto zero) {
        using T = decltype(zero);
        const T value = *view.array.at<T>(p[0], p[1], p[2], c);
        const bool is_marked = std::is_floating_point_v<T> ? value != value : value == T{};
        found[wrong] += is_absent ? !is_marked : value != static_cast<T>(value_at(q, c, step));
      });
    }
    return is_absent;
  }

  Variable variable_;
  Mesh mesh_;
  std::int32_t halo_;
  std::string file_;
  Decomposition pieces_;
};

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  registry.add(AnalysisKind{
      .name = "pieces",
      .text = "For the tests.",
      .options = {{.name = "variable", .type = OptionType::variable, .required = true, .text = "Of mesh_program."},
                  {.name = "pieces", .type = OptionType::text, .required = true, .text = "slabs, pencils or bricks."},
                  {.name = "axis", .type = OptionType::integer, .default_value = "0", .text = "Of slabs and pencils."},
                  {.name = "halo", .type = OptionType::integer, .default_value = "0", .text = "Points round both."},
                  {.name = "file", .type = OptionType::file, .default_value = "pieces.csv", .text = "The table."}},
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<SumsOfPieces>(settings, metadata);
      }});
}
