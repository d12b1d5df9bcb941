#include "feed.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <sidestream/error.hpp>
#include <sstream>

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
  guarded([&] {
    if (part.is_global()) return take(part, when);
    Part local = part;
    Index& listed = listed_[part.name];
    local.start = {listed};
    listed += static_cast<Index>(part.values());
    take(local, when);
  });
}

void Feed::take(const Part& part, Read when) {
  if (when == Read::now && session_) {
    Box box;
    const AgreedArray* const array = known(part, box);
    if (array == nullptr) return;
    if (!is_needed(*array)) return void(use(part, *array, box));  // its blocks count, as they do with other arrays
    const std::int64_t* const block = block_of(*array, box);
    if (block != nullptr && array->coordinate < 0) {
      if (use(part, *array, box)) publish(*array, part, *block);
      return;
    }
  }
  const auto same = [&](const Waiting& w) {
    return w.part.name == part.name && w.part.start == part.start && w.part.count == part.count;
  };
  if (part.values() > 0 && std::any_of(waiting_.begin(), waiting_.end(), same)) return say_twice(part.name);
  Waiting& waiting = waiting_.emplace_back(Waiting{part, {}});
  if (when == Read::later) return;
  waiting.copy = packed(part);
  waiting.part.data = waiting.copy.data();
  waiting.part.strides.clear();
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
  void* memory = nullptr;
  guarded([&] {
    if (!session_) return;
    Box box;
    const AgreedArray* const array = known(part, box);
    const std::int64_t* const block = array == nullptr ? nullptr : block_of(*array, box);
    if (block == nullptr || array->coordinate >= 0 || !is_natural(agreed_.meshes[array->mesh])) return;
    if (put_.count({part.name, key_of(box)}) != 0) return;
    memory = session_->alloc_values(array->variable, *block, part.type, part.values());
    if (memory != nullptr && use(part, *array, box)) lent_.push_back({array->variable, *block});
  });
  if (memory != nullptr) return static_cast<std::byte*>(memory);
  Waiting& waiting =
      waiting_.emplace_back(Waiting{part, std::vector<std::byte>(std::max<std::size_t>(1, part.bytes()))});
  waiting.part.data = waiting.copy.data();
  return waiting.copy.data();
}

void Feed::flush() {
  std::deque<Waiting> all;
  all.swap(waiting_);
  for (Waiting& waiting : all) {
    if (!waiting.copy.empty()) {
      waiting_.push_back(std::move(waiting));
    } else {
      guarded([&] { take(waiting.part, Read::now); });
    }
  }
}

const AgreedArray* Feed::known(const Part& part, Box& box) {
  const auto found = agreed_.arrays.find(part.name);
  if (found == agreed_.arrays.end()) {
    if (agreed_.left_out.count(part.name) == 0) {
      say("array '" + part.name + "': left out, since the first step with arrays had none of that name");
    }
    return nullptr;
  }
  const AgreedArray& array = found->second;
  const AgreedMesh& mesh = agreed_.meshes[array.mesh];
  const bool list = mesh.points && part.is_global() == !array.shape.empty() &&
                    (!array.vector || part.shape.back() == array.components);
  if (array.type != part.type || static_cast<int>(part.count.size()) != array.axes ||
      (mesh.points ? !list : part.shape != array.shape)) {
    say("array '" + part.name + "': left out, since its type or shape is another one than in the first step");
    return nullptr;
  }
  if (array.vector && part.count.back() != array.components) {
    say("array '" + part.name + "': left out, since the part has not all components");
    return nullptr;
  }
  box = mesh.place(part, array);
  return &array;
}

bool Feed::is_needed(const AgreedArray& array) {
  return session_->is_needed(array.coordinate < 0 ? array.variable : agreed_.meshes[array.mesh].places());
}

const std::int64_t* Feed::block_of(const AgreedArray& array, const Box& box) const {
  const Blocks& blocks = blocks_[array.mesh];
  const auto found = blocks.ids.find(key_of(box));
  return found == blocks.ids.end() ? nullptr : &found->second;
}

bool Feed::use(const Part& part, const AgreedArray& array, const Box& box) {
  if (!put_.insert({part.name, key_of(box)}).second) {
    say_twice(part.name);
    return false;
  }
  Blocks& blocks = blocks_[array.mesh];
  if (blocks.used.count(key_of(box)) != 0) return true;
  blocks.changing = blocks.changing || blocks.ids.count(key_of(box)) == 0;
  for (const BoxKey& other : blocks.used) {
    if (!blocks.changing) break;
    if (intersection(box_of(other), box).empty()) continue;
    say("array '" + part.name + "': left out, since a part overlaps one of another array on the mesh '" +
        agreed_.meshes[array.mesh].name + "'; map the arrays to two meshes");
    return false;
  }
  blocks.used.insert(key_of(box));
  return true;
}

Mapping Feed::rules() {
  Mapping mapping;
  std::string problem;
  if (ranks_->rank() == 0 && !mapping_.empty()) {
    try {
      std::ifstream file(mapping_);
      if (!file) throw Error(Code::configuration, "the file '" + mapping_ + "' with rules for arrays cannot be opened");
      std::ostringstream text;
      text << file.rdbuf();
      mapping = read_mapping(text.str(), mapping_);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  const std::string of_first = ranks_->gather(problem).front();
  if (!of_first.empty()) throw Error(Code::configuration, of_first);
  mapping.add(suggested_);
  return mapping;
}

void Feed::start() {
  Problems problems;
  std::vector<Part> parts;
  for (const Waiting& waiting : waiting_) parts.push_back(waiting.part);
  try {
    agreed_ = agree(parts, rules(), *ranks_, problems);
    if (ranks_->rank() == 0) sentences_.say(problems);
    if (agreed_.arrays.empty()) return;
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
  for (const Waiting& waiting : waiting_) add(waiting.part.name);
  for (const auto& [name, box] : put_) add(name);
  return meshes;
}

std::string Feed::either(std::string one, const std::string& other) {
  one.resize(std::max(one.size(), other.size()), '-');
  for (std::size_t m = 0; m < other.size(); ++m) one[m] = other[m] == '+' ? '+' : one[m];
  return one;
}

void Feed::end_step(std::int64_t cycle, double time, const std::string& written) {
  if (unknown() && !closed_) guarded([&] { start(); });
  if (session_) {
    guarded([&] { publish_waiting(written); });
    for (const Lent& lent : lent_) {
      guarded([&] {
        session_->commit(lent.variable, lent.block);
        session_->clear(lent.variable, lent.block);
      });
    }
    guarded([&] { (void)session_->end_iteration(cycle, time); });
  }
  waiting_.clear();
  lent_.clear();
  put_.clear();
  empty_.clear();
  listed_.clear();
  places_.clear();
  for (Blocks& blocks : blocks_) {
    blocks.used.clear();
    blocks.changing = false;
  }
}

bool Feed::has_parts() const {
  const bool mine = !waiting_.empty() || !put_.empty();
  const std::vector<std::string> all = ranks_->gather(mine ? "parts" : "");
  return std::any_of(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
}

void Feed::close() {
  if (closed_) return;
  closed_ = true;
  if (!session_) return;
  Session session = std::move(*session_);
  session_.reset();
  guarded([&] { session.close(); });
}

}  // namespace sidestream::arrays
