// Resampling to one level, in front of an analysis of a uniform mesh.
//
// 1. `local` adds each cell that counts to the cells of the level (level_means.cpp).
// 2. `combine` sends the sums to the servers that own the level's rows. These servers round them once, and send the
//    means to the servers that need them for pieces of the analysis' decompositions (LevelPieces).
// 3. There the analysis runs all its passes, as on a uniform mesh whose cells were published.
#include "cosmology/spectra/on_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "cosmology/spectra/level_means.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/tree_walk.hpp"

namespace sidestream::spectra {
namespace {

/// Returns the values of this server's box, from the boxes of all servers. Collective. `wanted` returns a server's box.
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

  /// Adds the piece of a selection. Collective.
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

/// Throws, on all servers, the first of their errors in `f`, which does not communicate. Collective.
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
    std::vector<Bytes> sums;
    for (const std::int32_t id : variables_) {
      sums.push_back(sums_on_level(input, variable(input.metadata, id), level_, flat_mesh()));
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
