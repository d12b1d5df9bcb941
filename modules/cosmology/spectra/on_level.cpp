// Resampling to one level, in front of an analysis of a uniform mesh.
//
// 1. `local` adds each cell that counts to the cells of the level: a coarser one to all that it contains, a finer one,
//    with its share of the volume, to the one that contains it (CellMeans). Sums of values and of shares are exact.
// 2. `combine` sends the sums to the servers that own the level's rows. These round them once, and send the means to
//    the servers whose pieces of the analysis' decompositions have them (LevelPieces).
// 3. There the analysis runs all its passes, as on a uniform mesh whose cells were published.
#include "cosmology/spectra/on_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "sidestream/extend/merging.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/tree_walk.hpp"
#include "sidestream/kit/mesh/lattice.hpp"
#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "sidestream/kit/mesh/point_values.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream::spectra {
namespace {

/// Rows of a level's cells, along its slowest axis.
GridShape rows_of_level(const Mesh& flat) {
  std::vector<Index> extents;
  for (int a = flat.dimensions; a-- > 0;) extents.push_back(flat.cells.extent(a));
  return GridShape(std::move(extents));
}

/// Adds the cells of one variable to the cells of a level: a sum for each component, and one of the shares.
class CellMeans {
 public:
  CellMeans(const Mesh& mesh, std::int32_t level, const GridShape& rows, const Variable& variable)
      : mesh_(mesh),
        lattice_(mesh),
        extents_(extents(level)),
        variable_(variable),
        sums_(rows, static_cast<std::size_t>(variable.components) + 1) {}

  [[nodiscard]] Bytes of(const LocalInput& input) {
    for (const BlockView& view : input.of(variable_.id)) {
      if (view.copy || view.block.cells.empty()) continue;
      if (mesh_.kind() == MeshKind::octree) {
        add_tree(input, view);
      } else {
        for_each_counted(view, 0, [&](const Index3& p, double) { add(view, {view.block.level, p}, p); });
      }
      sums_.add_up();
    }
    return sums_.take();
  }

 private:
  static constexpr std::size_t many = std::size_t{1} << 20;

  /// Numbers of cells of a level.
  [[nodiscard]] Index3 extents(std::int32_t level) const {
    Index3 cells;
    for (std::size_t a = 0; a < 3; ++a) {
      cells[a] = lattice_.domain().extent(static_cast<int>(a)) / lattice_.steps(level)[a];
    }
    return cells;
  }

  void add_tree(const LocalInput& input, const BlockView& view) {
    const auto tree = OwnedLeaves::of(input, mesh_, view.block);
    if (!tree) return;
    tree->index().walk([](const TreeCell&) { return true; },
                       [&](Index leaf, const TreeCell& cell) {
                         if (tree->owns(leaf)) add(view, cell, {leaf, 0, 0});
                       });
  }

  /// `place`: of the cell's values in the array.
  void add(const BlockView& view, const TreeCell& cell, const Index3& place) {
    const Index3 own = extents(cell.level);
    Box part;
    double share = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const Index at = cell.index[a] - lattice_.domain().lo[a] / lattice_.steps(cell.level)[a];
      if (own[a] > extents_[a]) {
        const Index finer = own[a] / extents_[a];
        share /= static_cast<double>(finer);
        part.lo[a] = at / finer;
        part.hi[a] = part.lo[a] + 1;
      } else {
        const Index coarser = extents_[a] / own[a];
        part.lo[a] = at * coarser;
        part.hi[a] = part.lo[a] + coarser;
      }
    }
    of_cell_.clear();
    for (int c = 0; c < variable_.components; ++c) {
      of_cell_.emplace_back().add(share * number_at(view.array, place, c));
    }
    of_cell_.emplace_back().add(share);
    for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
      for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
        for (Index i = part.lo[0]; i < part.hi[0]; ++i) {
          sums_.add((k * extents_[1] + j) * extents_[0] + i, of_cell_);
          if (++added_ % many == 0) sums_.add_up();
        }
      }
    }
  }

  const Mesh& mesh_;
  Lattice lattice_;
  Index3 extents_;  ///< of the level
  const Variable& variable_;
  GridSums sums_;
  std::vector<ExactSum> of_cell_;
  std::size_t added_ = 0;
};

/// Contiguous float64 values of a box of cells, with their owner.
struct Values {
  Values(const Box& of, int components) : room(static_cast<std::size_t>(of.count() * components)) {
    array.data = room.data();
    array.box = of;
    array.components = components;
    array.strides = packed_strides(of, components, Order::column);
  }
  [[nodiscard]] double& at(const Index3& p, int c) noexcept {
    const auto& s = array.strides;
    const Index3& lo = array.box.lo;
    return room[static_cast<std::size_t>((p[0] - lo[0]) * s[0] + (p[1] - lo[1]) * s[1] + (p[2] - lo[2]) * s[2] +
                                         c * s[3])];
  }
  /// Calls `f(value)` for the values of a box, in the same order on every server.
  template <class F>
  void for_each_in(const Box& box, F&& f) {
    for (int c = 0; c < array.components; ++c) {
      for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
        for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
          for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(at({i, j, k}, c));
        }
      }
    }
  }

  std::vector<double> room;
  ArrayView array{};
};

/// The means in this server's rows, and the number of cells there that nothing was added to.
struct Means {
  Values values;
  std::int64_t missing = 0;
};

/// Collective.
Means means_of(const std::vector<BytesView>& sums, const Mesh& flat, int components, Communicator& servers) {
  const GridShape rows = rows_of_level(flat);
  const auto slowest = static_cast<std::size_t>(flat.dimensions - 1);
  Box mine = flat.cells;
  mine.lo[slowest] = flat.cells.lo[slowest] + rows.first_row(servers.rank(), servers.size());
  mine.hi[slowest] = flat.cells.lo[slowest] + rows.first_row(servers.rank() + 1, servers.size());
  Means means{Values(mine, components), mine.count()};
  const RowsOfServer words = rows_of(sums, rows, servers);
  const auto count = static_cast<std::size_t>(components);
  for (std::size_t row = 0; row < words.size(); ++row) {
    for_each_sum(words[row], count + 1, [&](Index cell, std::span<const ExactSum> of) {
      const double share = of[count].value();
      if (!(std::fabs(share - 1) < 1e-9)) return;
      --means.missing;
      const Index n = static_cast<Index>(row) * rows.row_cells() + cell;
      const Index3 p{mine.lo[0] + n % mine.extent(0), mine.lo[1] + n / mine.extent(0) % mine.extent(1),
                     mine.lo[2] + n / mine.extent(0) / mine.extent(1)};
      for (std::size_t c = 0; c < count; ++c) means.values.at(p, static_cast<int>(c)) = of[c].value() / share;
    });
  }
  return means;
}

/// Collective: the values of this server's box, from the boxes that all servers have. `wanted` returns a server's box.
template <class Wanted>
Values redistributed(Values& mine, Wanted&& wanted, Communicator& servers) {
  std::vector<MemberMessage> out;
  for (int server = 0; server < servers.size(); ++server) {
    const Box both = intersection(mine.array.box, wanted(server));
    if (both.empty()) continue;
    ByteWriter message;
    message.put(both);
    std::vector<double> values;
    mine.for_each_in(both, [&](double value) { values.push_back(value); });
    message.put(values);
    out.push_back({server, message.take()});
  }
  Values piece(wanted(servers.rank()), mine.array.components);
  for (const MemberMessage& message : servers.exchange(std::move(out))) {
    ByteReader in(message.bytes);
    const auto box = in.get<Box>();
    std::vector<double> values;
    in.get(values);
    const double* next = values.data();
    piece.for_each_in(box, [&](double& value) { value = *next++; });
  }
  return piece;
}

/// The pieces of the analysis' selection on this server.
class LevelPieces {
 public:
  LevelPieces(const Metadata& flat, const Mesh& mesh) : flat_(flat), mesh_(mesh), blocks_(flat.variables.size()) {}

  /// Collective.
  void add(const Selected& selected, Values& means, Communicator& servers) {
    const auto piece = [&](int server) { return piece_of(selected.decomposition, mesh_, servers.size(), server); };
    std::vector<BlockView>& views = views_.emplace_back();
    const Values& values = values_.emplace_back(redistributed(means, piece, servers));
    if (!values.array.box.empty()) {
      BlockView& view = views.emplace_back();
      view.block.id = -1 - servers.rank();
      view.block.cells = view.points = values.array.box;
      view.owned = {values.array.box};
      view.array = values.array;
    }
    EntryViews& entry = entries_.emplace_back();
    entry.variable = selected.variable;
    entry.views.resize(flat_.variables.size(), nullptr);
    entry.views[static_cast<std::size_t>(selected.variable)] = &views;
  }
  [[nodiscard]] LocalInput input(const CombineInput& from, int pass, const Bytes& feedback) const {
    LocalInput input{from.iteration, flat_, blocks_, pass, feedback, nullptr, entries_};
    input.server = from.communicator.rank();
    input.servers = from.communicator.size();
    input.stays = true;
    return input;
  }

 private:
  const Metadata& flat_;
  const Mesh& mesh_;
  std::vector<std::vector<BlockView>> blocks_;  ///< none as published
  std::deque<Values> values_;
  std::deque<std::vector<BlockView>> views_;
  std::vector<EntryViews> entries_;
};

/// Collective: throws on all servers the first of their errors in `f`, which does not communicate.
template <class F>
void on_all_alike(Communicator& servers, F&& f) {
  std::string failure;
  std::int64_t failed = 0;
  try {
    f();
  } catch (const std::exception& e) {
    failure = e.what();
    failed = 1;
  }
  servers.maximum({&failed, 1});
  if (failed == 0) return;
  for (const Bytes& text : servers.all_gather(std::as_bytes(std::span(failure)))) {
    if (!text.empty())
      throw Error(Code::analysis, std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  }
  fail(Code::analysis, "a server failed without a message");
}

class OnLevel final : public Task {
 public:
  OnLevel(std::unique_ptr<Task> task, Metadata flat, std::int32_t mesh, std::int32_t level)
      : task_(std::move(task)), flat_(std::move(flat)), mesh_(mesh), level_(level), wanted_(task_->selection()) {
    for (const Selected& selected : wanted_.variables) variables_.insert(selected.variable);
  }

  Selection selection() const override {
    Selection selection;
    for (const std::int32_t id : variables_) selection.variables.emplace_back(id).covered = false;
    selection.geometry = false;
    return selection;
  }
  double tolerance() const override { return task_->tolerance(); }

  Bytes local(const LocalInput& input) override {
    const Mesh& mesh = input.metadata.meshes.at(static_cast<std::size_t>(mesh_));
    const GridShape rows = rows_of_level(flat_mesh());
    std::vector<Bytes> sums;
    for (const std::int32_t id : variables_) {
      sums.push_back(CellMeans(mesh, level_, rows, variable(input.metadata, id)).of(input));
    }
    ByteWriter out;
    out.put(sums);
    return out.take();
  }

  Bytes combine(const CombineInput& input) override {
    std::map<std::int32_t, Values> means = all_means(input);
    if (means.empty()) return {};
    LevelPieces pieces(flat_, flat_mesh());
    for (const Selected& selected : wanted_.variables) {
      pieces.add(selected, means.at(selected.variable), input.communicator);
    }
    means.clear();
    Bytes feedback;
    for (int pass = 0; pass < task_->passes(); ++pass) {
      const LocalInput local = pieces.input(input, pass, feedback);
      std::vector<Bytes> partials(1);
      try {
        on_all_alike(input.communicator, [&] { partials[0] = task_->local(local); });
      } catch (...) {
        task_->discard(input.iteration);
        throw;
      }
      feedback = task_->combine(
          {input.iteration, flat_, partials, pass, input.communicator, input.results, &local, input.steering});
    }
    return {};
  }

  void discard(const Iteration& iteration) noexcept override { task_->discard(iteration); }

 private:
  [[nodiscard]] const Mesh& flat_mesh() const { return flat_.meshes.at(static_cast<std::size_t>(mesh_)); }
  [[nodiscard]] static const Variable& variable(const Metadata& metadata, std::int32_t id) {
    return metadata.variables.at(static_cast<std::size_t>(id));
  }

  /// The means of all variables in this server's rows, or nothing if no cell was published.
  std::map<std::int32_t, Values> all_means(const CombineInput& input) const {
    std::vector<std::vector<Bytes>> partials(input.partials.size());
    for (std::size_t n = 0; n < partials.size(); ++n) ByteReader(input.partials[n]).get(partials[n]);
    std::map<std::int32_t, Values> all;
    std::array<std::int64_t, 2> counts{};  // cells without a mean, all cells
    std::size_t at = 0;
    for (const std::int32_t id : variables_) {
      std::vector<BytesView> sums;
      for (std::vector<Bytes>& of : partials) sums.emplace_back(of.at(at));
      Means means = means_of(sums, flat_mesh(), variable(flat_, id).components, input.communicator);
      counts[0] += means.missing;
      counts[1] += means.values.array.box.count();
      all.emplace(id, std::move(means.values));
      for (std::vector<Bytes>& of : partials) Bytes().swap(of.at(at));
      ++at;
    }
    input.communicator.sum(counts);
    if (counts[0] == counts[1]) return {};
    if (counts[0] == 0) return all;
    fail(Code::analysis,
         "{} of {} values on level {} lie where nothing was published in this iteration, expected all: publish every "
         "cell of mesh '{}'",
         counts[0], counts[1], level_, flat_mesh().name);
  }

  std::unique_ptr<Task> task_;
  Metadata flat_;  ///< with a uniform mesh of the level, and variables of float64 on it
  std::int32_t mesh_, level_;
  Selection wanted_;
  std::set<std::int32_t> variables_;
};

/// The cells of a level as a mesh of one level. Throws Error(configuration).
Mesh flat_mesh(const Settings& settings, const Mesh& mesh, std::int32_t level) {
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  if (mesh.kind() != MeshKind::octree && (mesh.kind() != MeshKind::uniform || finest == 0)) {
    settings.fail("level",
                  fmt::format("found {} for mesh '{}' of type '{}'{}, expected an octree or a uniform mesh with "
                              "refinement levels; remove it",
                              level, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none",
                              finest == 0 ? " and one level" : ""));
  }
  Mesh flat = mesh.kind() == MeshKind::octree ? as_levels(mesh, level) : mesh;
  if (level > static_cast<std::int32_t>(flat.refinement.size())) {
    settings.fail("level", fmt::format("found {} for mesh '{}', whose finest level is {}, expected 0 to {}; correct it",
                                       level, mesh.name, finest, finest));
  }
  const auto geometry = std::dynamic_pointer_cast<const UniformGeometry>(flat.geometry);
  const Index3 ratio = flat.ratio_to(level);
  std::array<double, 3> spacing = geometry->spacing();
  for (std::size_t a = 0; a < 3; ++a) spacing[a] /= static_cast<double>(ratio[a]);
  flat.cells = flat.cells_on(level);
  flat.geometry = std::make_shared<UniformGeometry>(geometry->origin(), spacing);
  flat.refinement.clear();
  flat.arrays.fill(-1);
  double cells = 1;
  for (int a = 0; a < 3; ++a) cells *= static_cast<double>(flat.cells.extent(a));
  if (cells <= 0x1p40) return flat;
  settings.fail("level",
                fmt::format("found {} for mesh '{}', which has {} cells there, expected at most 2^40; choose a "
                            "coarser level",
                            level, mesh.name, cells));
}

}  // namespace

std::string level_text() {
  return "For octrees and refinement levels: the mesh is resampled to the cells of this level. Each gets the mean of "
         "the finer cells in it, or the value of the coarser cell that contains it.";
}

std::unique_ptr<Task> task_on_level(
    const Settings& settings, const Metadata& metadata, const std::string& variable,
    const std::function<std::unique_ptr<Task>(const Settings&, const Metadata&)>& make) {
  if (!settings.given("level")) return make(settings, metadata);
  const auto level = settings.integer<std::int32_t>("level");
  Metadata flat = metadata;
  const Mesh& mesh = metadata.mesh_of(*metadata.find_variable(settings.text(variable)));
  flat.meshes.at(static_cast<std::size_t>(mesh.id)) = flat_mesh(settings, mesh, level);
  for (Variable& one : flat.variables) {
    if (one.mesh == mesh.id) one.type = Type::float64;
  }
  std::unique_ptr<Task> task = make(settings, flat);
  return std::make_unique<OnLevel>(std::move(task), std::move(flat), mesh.id, level);
}

}  // namespace sidestream::spectra
