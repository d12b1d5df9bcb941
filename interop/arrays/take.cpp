// Places of a step's parts, and values that come twice in it.
#include <algorithm>

#include "feed.hpp"
#include "overlap.hpp"

namespace sidestream::arrays {

void Feed::take(const Part& part, Read when) {
  const AgreedArray* const array = session_ ? known(part) : nullptr;
  if (session_ && array == nullptr) return;
  for (const Part& fresh : write_over(part, array)) add(fresh, array, when);
}

std::vector<Part> Feed::write_over(const Part& part, const AgreedArray* array) {
  const std::vector<Pieces::Place> before = pieces_.overlapping(part, is_block(part, array));
  if (before.empty()) return {part};
  std::size_t common = 0;
  for (const Pieces::Place& piece : before) common += common_values(part, piece->part);
  std::vector<Part> fresh{part};
  for (const Pieces::Place& piece : before) {
    if (common < part.values() && !piece->lent && contains(part, piece->part)) {
      remove(piece);
      continue;
    }
    if (piece->part.data != nullptr) {
      if (!piece->changeable) piece->keep();
      copy_common(part, piece->part);
    }
    std::vector<Part> left;
    for (const Part& one : fresh) {
      for (Part& rest : difference(one, piece->part)) left.push_back(std::move(rest));
    }
    fresh = std::move(left);
  }
  return fresh;
}

void Feed::add(const Part& part, const AgreedArray* array, Read when) {
  Piece piece;
  piece.part = part;
  piece.array = array;
  bool copies = when == Read::now;
  if (array != nullptr) {
    if (!array->is_whole(part)) return say_not_whole(part);
    piece.box = agreed_.meshes[array->mesh].place(part, *array);
    place(piece);
    const std::int64_t* const block = block_of(*array, piece.box);
    if (!is_needed(*array)) {  // its blocks count, as they do with other arrays
      piece.part.data = nullptr;
      copies = false;
    } else if (block != nullptr && piece.placed && array->coordinate < 0) {
      lay(piece, *block, true);
      copies = false;
    }
  }
  Piece& added = pieces_.add(std::move(piece));
  if (copies) added.keep();
}

const AgreedArray* Feed::find(const Part& part) const {
  const auto found = agreed_.arrays.find(part.name);
  if (found == agreed_.arrays.end()) return nullptr;
  const AgreedArray& array = found->second;
  const bool list = agreed_.meshes[array.mesh].points && part.is_global() == !array.shape.empty() &&
                    (!array.vector || part.shape.back() == array.components);
  const bool same = array.type == part.type && static_cast<int>(part.count.size()) == array.axes &&
                    (agreed_.meshes[array.mesh].points ? list : part.shape == array.shape);
  return same ? &array : nullptr;
}

const AgreedArray* Feed::known(const Part& part) {
  const AgreedArray* const array = find(part);
  if (array == nullptr && agreed_.arrays.count(part.name) != 0) {
    say("array '" + part.name + "': left out, since its type or shape is another one than in the first step" +
        out_of_date(part.name));
  } else if (array == nullptr && agreed_.left_out.count(part.name) == 0) {
    say("array '" + part.name + "': left out, since the first step with arrays had none of that name");
  }
  return array;
}

bool Feed::is_needed(const AgreedArray& array) {
  return session_->is_needed(array.coordinate < 0 ? array.variable : agreed_.meshes[array.mesh].places());
}

const std::int64_t* Feed::block_of(const AgreedArray& array, const Box& box) const {
  const Blocks& blocks = blocks_[array.mesh];
  const auto found = blocks.ids.find(key_of(box));
  return found == blocks.ids.end() ? nullptr : &found->second;
}

bool Feed::is_block(const Part& part, const AgreedArray* array) const {
  return array != nullptr && array->is_whole(part) &&
         block_of(*array, agreed_.meshes[array->mesh].place(part, *array)) != nullptr;
}

bool Feed::will_publish(const Part& part) {
  const AgreedArray* const array = session_ && problem_of(part).empty() ? find(part) : nullptr;
  if (array == nullptr) return false;
  if (part.values() == 0) return true;
  const std::vector<Pieces::Place> before = pieces_.overlapping(part, is_block(part, array));
  std::size_t common = 0;
  bool placed = true, whole = array->is_whole(part);
  for (const Pieces::Place& piece : before) {
    common += common_values(part, piece->part);
    placed = placed && piece->placed;
    whole = whole && !piece->lent && contains(part, piece->part);
  }
  if (common == part.values()) return placed;
  return whole && fits(*array, agreed_.meshes[array->mesh].place(part, *array), before);
}

bool Feed::fits(const AgreedArray& array, const Box& box, const std::vector<Pieces::Place>& gone) const {
  const Blocks& blocks = blocks_[array.mesh];
  if (blocks.used.count(key_of(box)) != 0) return true;
  if (!blocks.changing && blocks.ids.count(key_of(box)) != 0) return true;
  return std::none_of(blocks.used.begin(), blocks.used.end(), [&](const auto& other) {
    const auto leaves = [&](const Pieces::Place& piece) { return piece->placed && key_of(piece->box) == other.first; };
    return !intersection(box_of(other.first), box).empty() &&
           std::count_if(gone.begin(), gone.end(), leaves) < other.second;
  });
}

void Feed::place(Piece& piece) {
  if (!fits(*piece.array, piece.box, {})) return;
  Blocks& blocks = blocks_[piece.array->mesh];
  const BoxKey key = key_of(piece.box);
  piece.placed = true;
  piece.known = blocks.ids.count(key) != 0;
  blocks.changing = blocks.changing || !piece.known;
  ++blocks.used[key];
}

void Feed::remove(Pieces::Place piece) {
  if (piece->block >= 0) session_->clear(piece->array->variable, piece->block);
  if (piece->placed) {
    auto& used = blocks_[piece->array->mesh].used;
    const auto found = used.find(key_of(piece->box));
    if (--found->second == 0) used.erase(found);
  }
  pieces_.remove(piece);
}

}  // namespace sidestream::arrays
