#include "feed.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <sidestream/error.hpp>
#include <sstream>
#include <utility>

namespace sidestream::arrays {

namespace {

/// True if a contiguous array of the program is one of ours: the fastest axis is i.
bool is_natural(const AgreedMesh& mesh) {
  for (int a = 0; !mesh.points && a < mesh.dimensions; ++a) {
    if (mesh.axis_of[static_cast<std::size_t>(a)] != mesh.dimensions - 1 - a) return false;
  }
  return true;
}

}  // namespace

Feed::Feed(std::unique_ptr<Ranks> ranks, std::string configuration, std::string mapping)
    : ranks_(std::move(ranks)), configuration_(std::move(configuration)), mapping_(std::move(mapping)) {}

Feed::~Feed() = default;

void Feed::put(const Part& part, Read when) {
  if (failed_ || closed_) return;
  const std::string problem = problem_of(part);
  if (!problem.empty()) return say(problem + "; it is left out");
  if (part.values() == 0 && !unknown()) return void(empty_.insert(part.name));
  Part placed = part;
  if (!part.is_global()) {
    Index& listed = listed_[part.name];
    placed.start = {listed};
    listed += static_cast<Index>(part.values());
  }
  if (when == Read::later) return void(later_.push_back(std::move(placed)));
  guarded([&] { take(placed, when); });
}

std::byte* Feed::lend(Part part) {
  static_assert(sizeof(std::byte) == 1);
  const std::byte here{};
  part.data = &here;  // any address: the program does not know it yet
  part.strides.clear();
  const std::string problem = problem_of(part);
  if (!problem.empty()) {
    say(problem + "; it is left out");
    return nullptr;
  }
  if (!part.is_global()) {
    Index& listed = listed_[part.name];
    part.start = {listed};
    listed += static_cast<Index>(part.values());
  }
  std::byte* memory = nullptr;
  guarded([&] { memory = lend_shared(part); });
  if (memory != nullptr) return memory;
  Span& span = spans_.emplace_back(Span{part, std::vector<std::byte>(std::max<std::size_t>(1, part.bytes()))});
  span.part.data = span.memory.data();
  return span.memory.data();
}

std::byte* Feed::lend_shared(const Part& part) {
  const AgreedArray* const array = session_ ? known(part) : nullptr;
  if (array == nullptr || array->coordinate >= 0 || !array->is_whole(part)) return nullptr;
  if (!is_natural(agreed_.meshes[array->mesh]) || !pieces_.overlapping(part).empty()) return nullptr;
  Piece piece;
  piece.part = part;
  piece.array = array;
  piece.box = agreed_.meshes[array->mesh].place(part, *array);
  const std::int64_t* const block = block_of(*array, piece.box);
  if (block == nullptr || !fits(*array, piece.box, {})) return nullptr;
  lay(piece, *block, false);
  if (piece.block < 0) return nullptr;
  place(piece);
  piece.lent = true;
  return const_cast<std::byte*>(pieces_.add(std::move(piece)).part.data);
}

void Feed::flush() {
  for (const Part& part : std::exchange(later_, {})) {
    guarded([&] { take(part, Read::now); });
  }
}

Mapping Feed::rules_of_file(std::string& problem) const {
  if (ranks_->rank() != 0 || mapping_.empty()) return {};
  try {
    std::ifstream file(mapping_);
    if (!file) throw Error(Code::configuration, "the file '" + mapping_ + "' with rules for arrays cannot be opened");
    std::ostringstream text;
    text << file.rdbuf();
    return read_mapping(text.str(), mapping_);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return {};
}

Mapping Feed::rules() {
  std::string problem;
  Mapping mapping = rules_of_file(problem);
  const std::string of_first = ranks_->gather(problem).front();
  if (!of_first.empty()) throw Error(Code::configuration, of_first);
  return mapping;
}

void Feed::say_unused(const Mapping& of_file) {
  std::set<std::string> names = others_;
  for (const auto& [name, array] : agreed_.arrays) names.insert(name);
  names.insert(agreed_.left_out.begin(), agreed_.left_out.end());
  for (const std::string& sentence : unused(of_file, names, mapping_, suggested_)) say_first(sentence);
}

void Feed::start() {
  Problems problems;
  std::vector<Part> parts;
  for (const Piece& piece : pieces_) parts.push_back(piece.part);
  try {
    const Mapping of_file = rules();
    Mapping all = of_file;
    all.add(suggested_);
    agreed_ = agree(parts, all, *ranks_, problems);
    if (ranks_->rank() == 0) sentences_.say(problems);
    if (agreed_.arrays.empty()) return;
    say_unused(of_file);
    session_.emplace(interop::open_on_all(*ranks_, configuration_));
    blocks_.resize(agreed_.meshes.size());
    declare();
    session_->start();
  } catch (const std::exception& error) {  // the same on all ranks; the program goes on without
    failed_ = true;
    if (ranks_->rank() == 0) say(error.what());
    if (session_) interop::close_unstarted(std::move(*session_));
    session_.reset();
  }
}

void Feed::declare() {
  for (std::size_t m = 0; m < agreed_.meshes.size(); ++m) {
    const AgreedMesh& mesh = agreed_.meshes[m];
    Variable variable;
    variable.centering = mesh.points ? Centering::node : Centering::cell;
    if (mesh.points) {
      session_->add_points_mesh(mesh.name, mesh.dimensions, mesh.places());
      variable.name = mesh.places();
      variable.type = mesh.place_type;
      variable.components = mesh.dimensions;
      variable.time_varying = !mesh.coordinates.empty();
      session_->add_variable(mesh.name, variable);
      variable.time_varying = true;
    } else {
      session_->add_uniform_mesh(mesh.name, mesh.size, mesh.origin, mesh.spacing);
    }
    for (const auto& [name, array] : agreed_.arrays) {
      if (array.mesh != m || array.coordinate >= 0 || array.places) continue;
      variable.name = array.variable;
      variable.type = array.type;
      variable.components = array.components;
      variable.unit = array.unit;
      session_->add_variable(mesh.name, variable);
    }
  }
}

std::string Feed::written() const {
  std::string meshes(agreed_.meshes.size(), '-');
  const auto add = [&](const std::string& name) {
    const auto found = agreed_.arrays.find(name);
    if (found == agreed_.arrays.end() || !agreed_.meshes[found->second.mesh].points) return;
    meshes[found->second.mesh] = '+';
  };
  for (const std::string& name : empty_) add(name);
  for (const Piece& piece : pieces_) add(piece.part.name);
  for (const Part& part : later_) add(part.name);
  for (const Span& span : spans_) add(span.part.name);
  return meshes;
}

std::string Feed::either(std::string one, const std::string& other) {
  one.resize(std::max(one.size(), other.size()), '-');
  for (std::size_t m = 0; m < other.size(); ++m) one[m] = other[m] == '+' ? '+' : one[m];
  return one;
}

void Feed::end_step(std::int64_t cycle, double time, const std::string& written) {
  for (const Part& part : later_) guarded([&] { take(part, Read::later); });
  for (const Span& span : spans_) guarded([&] { take(span.part, Read::later); });
  if (unknown() && !closed_) guarded([&] { start(); });
  if (session_) {
    guarded([&] { publish_all(written); });
    guarded([&] { (void)session_->end_iteration(cycle, time); });
  }
  pieces_.clear();
  later_.clear();
  spans_.clear();
  empty_.clear();
  listed_.clear();
  places_.clear();
  for (Blocks& blocks : blocks_) {
    blocks.used.clear();
    blocks.changing = false;
  }
}

bool Feed::has_parts() const {
  const bool mine = !pieces_.empty() || !later_.empty() || !spans_.empty();
  const std::vector<std::string> all = ranks_->gather(mine ? "parts" : "");
  return std::any_of(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
}

void Feed::close() {
  if (closed_) return;
  closed_ = true;
  if (unknown()) {  // no array came that could be used
    std::string problem;
    say_unused(rules_of_file(problem));
    if (!problem.empty()) say(problem);
  }
  if (!session_) return;
  Session session = std::move(*session_);
  session_.reset();
  guarded([&] { session.close(); });
}

}  // namespace sidestream::arrays
