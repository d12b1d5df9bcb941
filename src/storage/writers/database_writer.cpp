// Output `database`.
//
// 1. At the start: chooses codecs for each variable. Lossy ones must be named for the variable, and are refused for
//    checkpoints.
// 2. local: finds the octrees, then encodes values. Those on trees go by level, the others in chunks; values without
//    codecs stay in place until combine.
// 3. combine (collective): the first time, servers agree whether the codec of trees is there. Then they store the
//    context together (Storing): it appears as a whole or not at all.
// 4. discard, or a failure: drops the encoded values; the next iteration begins anew.
#include "storage/writers/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <sstream>

#include "base/paths.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/codecs/precision.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/codecs/pipeline.hpp"
#include "storage/database/stored_trees.hpp"
#include "storage/database/storing.hpp"
#include "storage/database/tree_storing.hpp"
#include "storage/hdf5/hdf5_layout.hpp"
#include "storage/writers/preparation.hpp"

namespace sidestream {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

struct DatabaseQuery : database::StoringOptions {
  NamedVariables named{};
  std::vector<std::string> codec{};
  OptionPairs codecs{}, precision{};
  std::optional<bool> prune{};
  std::string level_times{};  ///< name of the event with the times; empty: none
  int threads = 1;

  /// True if cells that other blocks own are omitted. This is the default for `post` only, since a restart needs all
  /// cells.
  [[nodiscard]] bool prunes() const { return prune.value_or(kind == database::Kind::post); }
};

void check_directory(const Settings& settings, const std::string& name, const Metadata&,
                     const database::StoringOptions& options) {
  if (options.directory.find('{') == std::string::npos) return;
  settings.fail(name, fmt::format("found '{}', expected a name without fields: one database holds all iterations",
                                  options.directory));
}

OptionTable<DatabaseQuery> what_options() {
  using Query = DatabaseQuery;
  return {
      option<OptionType::file>("directory", &database::StoringOptions::directory,
                               "The directory of the database, in the output directory.", {.standard = "database"})
          .then(check_directory),
      option("kind", &database::StoringOptions::kind,
             "`checkpoint`: for restarts, without loss; `post`: for analyses, with any codecs.",
             {.standard = "checkpoint",
              .choices = {{"checkpoint", database::Kind::checkpoint}, {"post", database::Kind::post}}}),
      variables_option(&Query::named),
      option(
          "codec", &Query::codec,
          "The codecs for all values, in this order, without loss; none if left out. Only `auto`: for each chunk the "
          "better of `zstd` and `byte-shuffle zstd` on a sample; none if little is saved, or if the server is late "
          "and packing takes longer than writing. Values in cells of octrees then go by level through `tree`, which "
          "predicts them from their parents and from declared relations." +
              codec_manual()),
      option("codecs", &Query::codecs,
             "Other codecs for some variables, by name, separated by spaces: `{temperature: half byte-shuffle zstd}`."),
      option(
          "precision", &Query::precision,
          "The precision of some real variables, with the words of the outputs `hdf5` and `vtk`, before the codecs of "
          "`codec`: `{temperature: bit-round:10}`. Here each chunk has a range of its own, and chunks that cannot keep "
          "the bound are stored in full. Here only, `bounded:BOUND`, `bounded:range:PART` and `bounded:each:PART` pack "
          "what differs from a prediction, with an error of at most BOUND, or of that part of a chunk's range, or of "
          "each value."),
      option("prune", &Query::prune,
             "For octrees whose blocks have flags of ownership: stores refined cells without owned leaves as leaves, "
             "without the cells below, which other blocks have. If left out, `true` for `post` and `false` for "
             "`checkpoint`, which restores everything."),
      level_times_option(&Query::level_times)};
}

OptionTable<DatabaseQuery> how_options() {
  using How = database::StoringOptions;
  return {
      option("contributors_per_file", &How::contributors_per_file,
             "The number of servers of a node that share files; 0: all of them.", {.standard = 0, .minimum = 0}),
      option<OptionType::bytes>("max_file_size", &How::max_file_size,
                                "A file that would become larger is continued in another one. The values of one "
                                "variable on one block on one server are not divided.",
                                {.standard = "2 GiB", .minimum = 1 << 16}),
      option("fsync", &How::flush,
             "Waits for the disk before a context counts as written, so that it survives a power failure.",
             {.standard = true}),
      option("keep", &How::keep,
             "The number of contexts of this run that are kept, the newest ones; older ones are removed when new ones "
             "are written. 0: all are kept.",
             {.standard = 0, .minimum = 0}),
      option("server_threads", &DatabaseQuery::threads,
             "The number of threads of each server that encode chunks. The bytes do not depend on it, except with "
             "`auto`, which depends on times. Servers bound to a core have no other core for threads.",
             {.standard = 1, .minimum = 1, .maximum = 256}),
      option("preallocate", &How::preallocate,
             "Allocates the space of a whole context before its first byte, on file systems that support it: writing "
             "is faster then.",
             {.standard = true}),
      option("stagger", &How::stagger,
             "Makes dedicated servers write one after the other, each in a slot of its own, for disks that are slower "
             "with many writers. The slots take at most half of the time between two contexts.",
             {.standard = false}),
      option("hdf5", &How::show,
             "Writes a small HDF5 file for each context, with which other programs read the variables without codecs "
             "in place. One server writes it, at a cost that grows with the number of blocks.",
             {.standard = true})};
}

OptionTable<DatabaseQuery> database_options() { return what_options().add(how_options()); }

class DatabaseWriter final : public Task {
 public:
  DatabaseWriter(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory,
                 std::shared_ptr<const CodecKinds> kinds, std::string base)
      : directory_(std::move(directory)),
        kinds_(std::move(kinds)),
        base_(std::move(base)),
        query_(database_options().read(settings, metadata)),
        variables_(chosen_variables(query_.named, metadata)) {
    schema_.provenance = directory_->provenance();
    schema_.chunk = database::chunk_bytes;
    schema_.metadata = database::part_of(metadata, variables_);
    schema_.pruned = query_.prunes() && database::has_trees(schema_.metadata);
    trees_.emplace(schema_.pruned);
    for (const Variable& variable : schema_.metadata.variables) schema_.relations.push_back(variable.relations);
    choose_codecs(settings);
    query_.directory = directory_->path(query_.directory, {}, 0);
    query_.output = directory_;
    static_cast<void>(agreed_writers(settings, query_.stagger, *directory_));
    storing_.emplace(query_);
    pool_.emplace(query_.threads);
    encoding_.pool = &*pool_;
    encoding_.pace.threads = pool_->threads();
  }

  Selection selection() const override { return selection_of(variables_); }

  /// Encodes values; those stored unchanged stay in place until `combine`.
  Bytes local(const LocalInput& input) override {
    begin_context();
    take_level_times(input);
    find_trees(input);
    for (std::size_t n = 0; n < variables_.size(); ++n) {
      const Variable& variable = schema_.metadata.variables[n];
      for (const BlockView& view : input.of(variables_[n])) {
        if (view.copy || view.points.empty()) continue;
        if (database::StoredTree* const tree = tree_of(variable, view)) {
          add_on_tree(variable, view, *tree, input);
        } else {
          domain_.add(static_cast<std::uint32_t>(n), variable, translated(view, n), packings_[n], encoding_);
        }
      }
    }
    return {};
  }

  Bytes combine(const CombineInput& input) override {
    if (!agreed_) agree_on_tree_codec(input.communicator, encoding_.of_trees != nullptr);
    agreed_ = true;
    const double start = now();
    storing_->store(input.communicator, domain_, schema_, input.iteration);
    ended_ = now();
    const auto bytes = static_cast<double>(domain_.stored_bytes());
    if (bytes > 0) encoding_.pace.writing = (ended_ - start) / bytes;
    domain_ = {};
    views_.clear();
    trees_->clear();
    return {};
  }

  void discard(const Iteration&) noexcept override {
    domain_ = {};
    views_.clear();
    trees_->clear();
  }

 private:
  /// Starts a context. A server is late if it begins one right after the last.
  void begin_context() {
    domain_ = {};
    constexpr double pause = 0.05;
    const double last = began_;
    began_ = now();
    encoding_.pace.hurries = ended_ > 0 && began_ - ended_ < pause * (ended_ - last);
  }
  void take_level_times(const LocalInput& input);
  void choose_codecs(const Settings& settings);
  [[nodiscard]] Packing packing_of(const Settings& settings, const Variable& variable,
                                   const std::vector<std::string>& names, const char* option) const;
  void check_loss(const Settings& settings, const Variable& variable, const Packing& packing, const char* option) const;
  [[nodiscard]] bool goes_as_tree(const Settings& settings, const Variable& variable,
                                  const std::vector<std::string>& names, bool is_own);
  [[nodiscard]] bool has_tree_codec(const Settings& settings, const char* option, bool by_name);
  void find_trees(const LocalInput& input);
  /// Null if the variable is stored like one on a mesh without levels.
  [[nodiscard]] database::StoredTree* tree_of(const Variable& variable, const BlockView& view);
  void add_on_tree(const Variable& variable, const BlockView& view, database::StoredTree& tree,
                   const LocalInput& input);
  /// The view, with its block under the mesh number of the schema.
  const BlockView& translated(const BlockView& view, std::size_t n) {
    const std::int32_t mesh = schema_.metadata.variables[n].mesh;
    if (view.block.mesh == mesh) return view;
    views_.push_back(view);
    views_.back().block.mesh = mesh;
    return views_.back();
  }

  std::shared_ptr<const OutputDirectory> directory_;
  std::shared_ptr<const CodecKinds> kinds_;
  std::string base_;  ///< the working directory when the session opened
  DatabaseQuery query_;
  std::vector<std::int32_t> variables_;
  database::Schema schema_;
  std::vector<Packing> packings_;
  std::optional<WorkerPool> pool_;
  database::Encoding encoding_;
  double began_ = 0, ended_ = 0;  ///< begin and end of the last context, in seconds
  std::optional<database::Storing> storing_;
  database::Domain domain_;
  std::deque<BlockView> views_;
  std::optional<database::StoredTrees> trees_;
  bool agreed_ = true;  ///< false until servers know that all of them, or none, have the codec of trees
};

/// Reads the times of levels; without them levels have the iteration's time.
void DatabaseWriter::take_level_times(const LocalInput& input) {
  schema_.level_times.clear();
  const std::vector<double> times = level_times_of(input, query_.level_times);
  for (const Mesh& mesh : schema_.metadata.meshes) {
    if (!times.empty() && has_level_times(mesh)) schema_.level_times[mesh.id] = times;
  }
}

void DatabaseWriter::find_trees(const LocalInput& input) {
  trees_->clear();
  for (const Mesh& mesh : schema_.metadata.meshes) {
    const std::int32_t refined = mesh.array(Role::refined), owned = mesh.array(Role::owned);
    if (mesh.kind() != MeshKind::octree || refined < 0) continue;
    const auto n = static_cast<std::size_t>(refined);
    for (const BlockView& view : input.of(variables_[n])) {
      if (view.copy || view.points.empty()) continue;
      const BlockView* const own =
          owned < 0 ? nullptr : input.find(variables_[static_cast<std::size_t>(owned)], view.block.id);
      trees_->add(mesh, translated(view, n), own);
    }
  }
}

database::StoredTree* DatabaseWriter::tree_of(const Variable& variable, const BlockView& view) {
  if (variable.centering != Centering::cell) return nullptr;
  database::StoredTree* const tree = trees_->find(variable.mesh, view.block.id);
  return tree != nullptr && view.points.extent(0) == tree->published ? tree : nullptr;
}

void DatabaseWriter::add_on_tree(const Variable& variable, const BlockView& view, database::StoredTree& tree,
                                 const LocalInput& input) {
  const database::TreeValues values{
      [&](const Variable& other) -> const BlockView* {
        const auto n = static_cast<std::size_t>(other.id);
        const BlockView* const found = input.find(variables_[n], view.block.id);
        if (found == nullptr || found->copy) return nullptr;
        const BlockView& own = translated(*found, n);
        return tree_of(other, own) == &tree ? &own : nullptr;
      },
      [this](std::int32_t id) -> const Packing& { return packings_[static_cast<std::size_t>(id)]; }};
  const BlockView& own = translated(view, static_cast<std::size_t>(variable.id));
  database::TreeStoring(schema_, values, encoding_, *trees_).add(variable, own, tree, domain_);
}

/// False if `auto` cannot use the codec because its module is missing.
bool DatabaseWriter::has_tree_codec(const Settings& settings, const char* option, bool by_name) {
  if (encoding_.of_trees) return true;
  agreed_ = false;
  FoundTreeCodec found = find_tree_codec(database::tree_codec, *kinds_, base_);
  if (!found.codec && by_name) settings.fail(option, found.missing);
  encoding_.of_trees = std::move(found.codec);
  return encoding_.of_trees != nullptr;
}

/// True if a variable goes through the tree codec. Flags of trees do whenever anything is encoded; values do with
/// `auto` or if the codec is named. Variables on other meshes must not name that codec.
bool DatabaseWriter::goes_as_tree(const Settings& settings, const Variable& variable,
                                  const std::vector<std::string>& names, bool is_own) {
  const char* const option = is_own ? "codecs" : "codec";
  const Mesh& mesh = schema_.metadata.mesh_of(variable);
  const bool by_name = std::find(names.begin(), names.end(), database::tree_codec) != names.end();
  const bool on_tree =
      mesh.kind() == MeshKind::octree && mesh.array(Role::refined) >= 0 && variable.centering == Centering::cell;
  if (by_name && (!on_tree || names.size() > 1)) {
    settings.fail(
        option,
        fmt::format("found the codec 'tree' for '{}', expected it without others, for values in cells of octrees; use "
                    "'auto', which takes it there and others elsewhere",
                    variable.name));
  }
  if (!on_tree) return false;
  if (variable.role != Role::none) return by_name || (!is_own && !names.empty());
  const bool chooses = names.size() == 1 && names.front() == "auto";
  return (by_name || chooses) && has_tree_codec(settings, option, by_name);
}

/// Checks the codecs of a variable. A lossy codec must have been chosen for the variable by its name.
void DatabaseWriter::check_loss(const Settings& settings, const Variable& variable, const Packing& packing,
                                const char* option) const {
  if (packing.lossless()) return;
  if (option == std::string_view("codec")) {
    settings.fail(option,
                  "found a codec that loses something for all variables, expected it for one by its name: "
                  "'codecs: {temperature: half zstd}'");
  }
  if (query_.kind == database::Kind::checkpoint) {
    settings.fail(option,
                  fmt::format("found a codec that loses something for '{}' in a checkpoint, from which a run is "
                              "to go on as if it had not ended; choose one that does not, or 'kind: post'",
                              variable.name));
  }
}

/// The packing by the options `codecs` or `codec`, or by `precision` followed by the codecs of `codec`.
Packing DatabaseWriter::packing_of(const Settings& settings, const Variable& variable,
                                   const std::vector<std::string>& names, const char* option) const {
  const auto precision = query_.precision.find(variable.name);
  const std::string word = precision == query_.precision.end() ? std::string() : precision->second;
  Packing packing;
  try {
    if (!word.empty()) static_cast<void>(precision_named(word, variable.type));
    CodecKinds kinds = *kinds_;
    add_codecs_of_modules({names, {word}}, base_, kinds);
    packing = Packing::chosen(names, variable.type, kinds, word);
  } catch (const Error& error) {
    settings.fail(option, fmt::format("for '{}': {}", variable.name, error.what()));
  }
  check_loss(settings, variable, packing, option);
  return packing;
}

void DatabaseWriter::choose_codecs(const Settings& settings) {
  std::vector<std::string> known;
  for (const Variable& variable : schema_.metadata.variables) known.push_back(variable.name);
  check_named_variables(settings, "codecs", query_.codecs, known);
  check_named_variables(settings, "precision", query_.precision, known);
  for (const Variable& variable : schema_.metadata.variables) {
    const auto own = query_.codecs.find(variable.name);
    const bool is_own = own != query_.codecs.end();
    const bool is_reduced = query_.precision.count(variable.name) > 0;
    if (is_own && is_reduced) {
      settings.fail("precision", fmt::format("found '{}' under 'codecs' too, expected it under one of them; remove one",
                                             variable.name));
    }
    const std::vector<std::string> names = is_own ? words_of(own->second) : query_.codec;
    if (!is_reduced && goes_as_tree(settings, variable, names, is_own)) {
      schema_.codecs.push_back({database::tree_codec});
      schema_.other_codecs.emplace_back();
      packings_.emplace_back();
      continue;
    }
    const char* const option = is_own ? "codecs" : is_reduced ? "precision" : "codec";
    packings_.push_back(packing_of(settings, variable, names, option));
    const auto& lists = packings_.back().lists();
    schema_.codecs.push_back(lists.front());
    schema_.other_codecs.emplace_back(lists.begin() + 1, lists.end());
  }
}

}  // namespace

WriterKind database_writer(std::shared_ptr<const CodecKinds> codecs) {
  WriterKind kind;
  kind.name = "database";
  kind.text =
      "Stores whole iterations in a database, for restarts and for reading: few files that only grow, with "
      "checksums. docs/database.md describes it, and docs/database-format.md its bytes.";
  kind.options = database_options().declarations();
  kind.any_partials = false;
  kind.for_restart = [](const Settings& settings) { return settings.text("kind") == "checkpoint"; };
  kind.create = [codecs, base = working_directory()](const Settings& settings, const Metadata& metadata,
                                                     std::shared_ptr<const OutputDirectory> directory) {
    return std::make_unique<DatabaseWriter>(settings, metadata, std::move(directory), codecs, base);
  };
  return kind;
}

}  // namespace sidestream
