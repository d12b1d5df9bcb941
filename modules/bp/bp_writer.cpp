// The output `bp`: one BP5 data set of ADIOS2 for the run, with a step for each iteration. Part of the build if ADIOS2
// was found.
//
// Every variable is a global array, so that readers need not know blocks and servers. Boxes are at their place in the
// mesh; lists are concatenated in the order of their blocks' ids.
#include <adios2.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <map>

#include "bp/bp_description.hpp"
#include "bp/bp_options.hpp"
#include "sidestream/extend/writer.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/box_values.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/hdf5/array_layout.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

/// A list on this server.
struct ListPart {
  std::int64_t block = 0, length = 0;
};

/// The place of each list of a variable in the concatenated array.
struct Lists {
  std::map<std::int64_t, std::int64_t> starts;  ///< by block
  std::vector<std::int64_t> blocks, lengths;    ///< in the order of ids
  std::int64_t total = 0;
};

/// The data set while it is written.
struct OpenSet {
  explicit OpenSet(MPI_Comm servers) : adios(servers), io(adios.DeclareIO("fields")) { io.SetEngine("BP5"); }
  adios2::ADIOS adios;
  adios2::IO io;
  adios2::Engine engine;
};

adios2::Dims dims_of(const hdf5::Extents& extents) { return {extents.begin(), extents.end()}; }

class BpWriter final : public Task {
 public:
  BpWriter(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory)
      : directory_(std::move(directory)),
        query_(bp_options().read(settings, metadata)),
        variables_(chosen_variables(query_.named, metadata)),
        path_(directory_->path(query_.file, {}, 0)) {}

  ~BpWriter() override {
    try {
      if (set_ && set_->engine) set_->engine.Close();
    } catch (const std::exception& e) {
      log::warning("closing '{}': {}", path_, e.what());
    }
  }

  Selection selection() const override { return selection_of(variables_); }
  /// ADIOS2 communicates while it writes, so everything happens in `combine`.
  Bytes local(const LocalInput&) override { return {}; }
  Bytes combine(const CombineInput& input) override;

 private:
  void open(const CombineInput& input);
  [[nodiscard]] std::int64_t look_at_earlier(const ResumeFilter& filter) const;
  void check_room(const CombineInput& input) const;
  [[nodiscard]] std::vector<Lists> place_lists(const CombineInput& input) const;
  void put_step(const CombineInput& input, const std::vector<Lists>& lists);
  void put_lists(const Variable& variable, const Lists& lists, bool is_first);
  void put_values(const Variable& variable, const std::string& name, const BlockView& view, const Box& piece,
                  const adios2::Dims& shape, const adios2::Dims& start, const adios2::Dims& count);
  template <class T>
  adios2::Variable<T> sized(const std::string& name, const adios2::Dims& shape);

  std::shared_ptr<const OutputDirectory> directory_;
  BpQuery query_;
  std::vector<std::int32_t> variables_;
  std::string path_;
  std::unique_ptr<OpenSet> set_;
  std::string broken_;          ///< reason why nothing more can be written
  std::deque<Bytes> packed_{};  ///< values that ADIOS2 reads until the step ends
};

Bytes BpWriter::combine(const CombineInput& input) {
  if (!broken_.empty()) fail(Code::file, "'{}' cannot be continued after an earlier failure: {}", path_, broken_);
  if (!set_) open(input);
  check_room(input);
  const std::vector<Lists> lists = place_lists(input);
  try {
    put_step(input, lists);
  } catch (const std::exception& e) {
    broken_ = e.what();
    static_cast<void>(set_.release());  // closing it would wait for servers that did not fail
    fail(Code::file, "cannot write '{}': {}", path_, broken_);
  }
  packed_.clear();
  return {};
}

/// Number of steps to keep, on the first server; -1 if there is no data set. Steps that are dropped are kept in a copy.
std::int64_t BpWriter::look_at_earlier(const ResumeFilter& filter) const {
  if (!fs::exists(path_)) return -1;
  if (!directory_->resumes() || !fs::exists(fs::path(path_) / "md.idx")) {
    const std::string kept = free_version(path_);
    fs::rename(path_, kept);
    log::warning("'{}' of an earlier run is now '{}'", path_, kept);
    return -1;
  }
  adios2::ADIOS adios;
  adios2::IO io = adios.DeclareIO("earlier");
  io.SetEngine("BP5");
  adios2::Engine reader = io.Open(path_, adios2::Mode::ReadRandomAccess);
  std::int64_t kept = 0, steps = 0;
  auto index = io.InquireVariable<std::int64_t>("iteration"), cycle = io.InquireVariable<std::int64_t>("cycle");
  if (index && cycle) {
    steps = static_cast<std::int64_t>(cycle.Steps());
    for (bool keeps = true; keeps && kept < steps; kept += keeps) {
      std::int64_t of[2] = {};
      index.SetStepSelection({static_cast<std::size_t>(kept), 1});
      cycle.SetStepSelection({static_cast<std::size_t>(kept), 1});
      reader.Get(index, of[0], adios2::Mode::Sync);
      reader.Get(cycle, of[1], adios2::Mode::Sync);
      keeps = filter.keeps(of[0], of[1]);
    }
  }
  reader.Close();
  if (kept < steps) {
    const std::string copy = free_version(path_);
    fs::copy(path_, copy, fs::copy_options::recursive);
    log::warning("'{}' goes on before cycle {}: {} steps from there on are kept in '{}' with the others", path_,
                 filter.first().cycle, steps - kept, copy);
  }
  return kept;
}

/// Opens the data set. Collective.
void BpWriter::open(const CombineInput& input) {
  std::int64_t kept = -1;
  run_collectively(input.communicator, [&] {
    if (input.communicator.rank() != 0) return;
    fs::create_directories(fs::path(path_).parent_path());
    kept = look_at_earlier(ResumeFilter(*directory_, input.iteration));
  });
  input.communicator.maximum(std::span(&kept, 1));
  auto set = std::make_unique<OpenSet>(*static_cast<MPI_Comm*>(input.communicator.native()));
  adios2::Params parameters;
  if (const int writers = directory_->writers(); writers > 0) {
    parameters = {{"AggregationType", "EveryoneWritesSerial"}, {"NumSubFiles", std::to_string(writers)}};
  }
  if (kept >= 0) parameters["AppendAfterSteps"] = std::to_string(kept);
  for (const auto& [name, value] : query_.parameters) parameters[name] = value;
  try {
    set->io.SetParameters(parameters);
    describe_bp(set->io, input.metadata, variables_, directory_->provenance());
    set->engine = set->io.Open(path_, kept >= 0 ? adios2::Mode::Append : adios2::Mode::Write);
  } catch (const std::exception& e) {
    broken_ = e.what();
    fail(Code::file, "cannot create '{}': {}", path_, broken_);
  }
  set_ = std::move(set);
}

/// Checks the free space. Collective. A server that cannot write would stop in the middle of ADIOS2's communication,
/// and the others with it.
void BpWriter::check_room(const CombineInput& input) const {
  std::int64_t bytes = 0;
  for (const std::int32_t id : variables_) {
    for (const BlockView& view : input.local->of(id)) {
      if (view.copy) continue;
      const auto point = static_cast<std::int64_t>(size_of(view.array.type)) * view.array.components;
      bytes += view.points.count() * point;
    }
  }
  input.communicator.sum(std::span(&bytes, 1));
  constexpr std::int64_t more = 16 << 20;  // metadata, and padding of each server's part
  run_collectively(input.communicator, [&] {
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      std::uint64_t largest = 0;  // one file may get everything
      for (const auto& file : fs::directory_iterator(path_))
        largest = std::max<std::uint64_t>(largest, file.file_size());
      if (largest + static_cast<std::uint64_t>(bytes + more) > limit.rlim_cur) fail_file("write", path_, EFBIG);
    }
    if (input.communicator.rank() != 0) return;
    struct statvfs facts {};
    if (::statvfs(path_.c_str(), &facts) != 0) return;  // ADIOS2 will report the reason
    const auto room = static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize);
    if (bytes + more <= room) return;
    fail(
        Code::file,
        "cannot write '{}': the iteration has {} bytes and the disk room for {}; free space on that disk or name another "
        "one in `output: directory`",
        path_, bytes, room);
  });
}

/// Gathers all lists, 16 bytes each, on every server. Collective.
std::vector<Lists> BpWriter::place_lists(const CombineInput& input) const {
  std::vector<Lists> placed(variables_.size());
  for (std::size_t n = 0; n < variables_.size(); ++n) {
    const Variable& variable = input.metadata.variables[static_cast<std::size_t>(variables_[n])];
    if (!input.metadata.mesh_of(variable).is_list()) continue;
    std::vector<ListPart> mine;
    for (const BlockView& view : input.local->of(variable.id)) {
      if (!view.copy) mine.push_back({view.block.id, view.points.extent(0)});
    }
    std::map<std::int64_t, std::int64_t> lengths;
    for (const Bytes& bytes : input.communicator.all_gather(bytes_of(mine))) {
      for (const ListPart& part : records_of<ListPart>(bytes)) lengths[part.block] = part.length;
    }
    for (const auto& [block, length] : lengths) {
      placed[n].starts[block] = placed[n].total;
      placed[n].blocks.push_back(block);
      placed[n].lengths.push_back(length);
      placed[n].total += length;
    }
  }
  return placed;
}

/// Defines or resizes the variable for this step.
template <class T>
adios2::Variable<T> BpWriter::sized(const std::string& name, const adios2::Dims& shape) {
  auto variable = set_->io.InquireVariable<T>(name);
  if (!variable) return set_->io.DefineVariable<T>(name, shape, adios2::Dims(shape.size(), 0), shape);
  variable.SetShape(shape);
  return variable;
}

void BpWriter::put_values(const Variable& variable, const std::string& name, const BlockView& view, const Box& piece,
                          const adios2::Dims& shape, const adios2::Dims& start, const adios2::Dims& count) {
  with_type(variable.type, [&](auto type) {
    using T = decltype(type);
    auto array = sized<T>(name, shape);
    array.SetSelection({start, count});
    const T* values = view.array.at<T>(piece.lo[0], piece.lo[1], piece.lo[2]);
    if (!is_gapless(view.array, piece, variable.order)) {
      packed_.emplace_back(packed_bytes(piece, variable.components, variable.type));
      pack(view.array, piece, variable.order, packed_.back());
      values = reinterpret_cast<const T*>(packed_.back().data());
    }
    set_->engine.Put(array, values, adios2::Mode::Deferred);
  });
}

/// Writes the ids and lengths of the blocks of a variable on lists.
void BpWriter::put_lists(const Variable& variable, const Lists& lists, bool is_first) {
  if (!is_first || lists.blocks.empty()) return;
  const adios2::Dims shape{lists.blocks.size()};
  const std::string name = bp_name(variable, 0);
  for (const auto& [ending, numbers] : {std::pair("/blocks", &lists.blocks), std::pair("/lengths", &lists.lengths)}) {
    auto array = sized<std::int64_t>(name + ending, shape);
    array.SetSelection({{0}, shape});
    set_->engine.Put(array, numbers->data(), adios2::Mode::Deferred);
  }
}

void BpWriter::put_step(const CombineInput& input, const std::vector<Lists>& lists) {
  const bool is_first = input.communicator.rank() == 0;
  set_->engine.BeginStep();
  if (is_first) {
    const auto put = [&](const char* name, auto value) {
      auto variable = set_->io.InquireVariable<decltype(value)>(name);
      if (!variable) variable = set_->io.DefineVariable<decltype(value)>(name);
      set_->engine.Put(variable, value, adios2::Mode::Sync);
    };
    put("iteration", input.iteration.index);
    put("cycle", input.iteration.cycle);
    put("time", input.iteration.time);
  }
  for (std::size_t n = 0; n < variables_.size(); ++n) {
    const Variable& variable = input.metadata.variables[static_cast<std::size_t>(variables_[n])];
    const Mesh& mesh = input.metadata.mesh_of(variable);
    put_lists(variable, lists[n], is_first);
    for (const BlockView& view : input.local->of(variable.id)) {
      if (view.copy || view.points.empty()) continue;
      // Lists are written whole: connectivities count all points of their block.
      const Box whole = mesh.is_list()          ? list_box(lists[n].total)
                        : view.block.level == 0 ? mesh.points(variable.centering)
                                                : points_of(variable.centering, mesh.cells_on(view.block.level));
      const int axes = mesh.index_dimensions();
      const adios2::Dims shape =
          dims_of(extents_of(variable, axes, {whole.extent(0), whole.extent(1), whole.extent(2)}));
      const std::vector<Box> pieces = mesh.is_list() ? std::vector{view.points} : view.owned;
      for (const Box& piece : pieces) {
        if (piece.empty()) continue;
        hdf5::Part part = part_of(variable, axes, piece, whole);
        if (mesh.is_list()) part.start[0] += static_cast<hsize_t>(lists[n].starts.at(view.block.id));
        put_values(variable, bp_name(variable, view.block.level), view, piece, shape, dims_of(part.start),
                   dims_of(part.size));
      }
    }
  }
  set_->engine.EndStep();
}

}  // namespace

WriterKind bp_writer() {
  return bp_kind(
      [](const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory) {
        return std::make_unique<BpWriter>(settings, metadata, std::move(directory));
      });
}

}  // namespace sidestream
