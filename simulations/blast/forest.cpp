#include "forest.hpp"

#include <p8est_bits.h>
#include <p8est_io.h>
#include <p8est_iterate.h>

#include <algorithm>
#include <span>

namespace blast {

namespace {

// Data of a leaf while the forest changes.
struct Load {
  Values values;
  std::int32_t number;  // number of the leaf before the change, or -1
  Mark mark;
};

Load& load(p8est_quadrant_t* leaf) { return *static_cast<Load*>(leaf->p.user_data); }

Leaf to_leaf(const p8est_quadrant_t& quadrant) {
  const int shift = P8EST_MAXLEVEL - quadrant.level;
  return {quadrant.level, {quadrant.x >> shift, quadrant.y >> shift, quadrant.z >> shift}};
}

p8est_connectivity_t* make_cube(bool periodic) {
  return periodic ? p8est_connectivity_new_periodic() : p8est_connectivity_new_unitcube();
}

// The leaves of this rank; there is one tree.
std::span<p8est_quadrant_t> own(p8est_t* forest) {
  sc_array_t& leaves = p8est_tree_array_index(forest->trees, 0)->quadrants;
  return {reinterpret_cast<p8est_quadrant_t*>(leaves.array), leaves.elem_count};
}

}  // namespace

struct Forest::Change {
  int least, most;
  const std::vector<std::array<Values, 3>>& slopes;
  const std::function<bool(const Values&)>& fits;

  static Change& of(p8est_t* forest) { return *static_cast<Change*>(forest->user_pointer); }

  static int coarsen(p8est_t* forest, p4est_topidx_t, p8est_quadrant_t* family[]) {
    if (family[0]->level <= of(forest).least) return 0;
    return std::all_of(family, family + P8EST_CHILDREN,
                       [](p8est_quadrant_t* leaf) { return load(leaf).mark == Mark::coarsen; });
  }
  static int refine(p8est_t* forest, p4est_topidx_t, p8est_quadrant_t* leaf) {
    return leaf->level < of(forest).most && load(leaf).mark == Mark::refine;
  }
  static void replace(p8est_t* forest, p4est_topidx_t, int out, p8est_quadrant_t* old[], int,
                      p8est_quadrant_t* made[]) {
    if (out == 1) {
      of(forest).divide(load(old[0]), made);
    } else {
      unite(old, load(made[0]));
    }
  }

  // In pairs: the mean of eight equal values is bit for bit that value.
  static void unite(p8est_quadrant_t* const* children, Load& parent) {
    parent = {{}, -1, Mark::keep};
    for (std::size_t n = 0; n < fields; ++n) {
      const auto pair = [&](int c) { return load(children[c]).values[n] + load(children[c + 1]).values[n]; };
      parent.values[n] = 0.125 * ((pair(0) + pair(2)) + (pair(4) + pair(6)));
    }
  }

  void divide(const Load& parent, p8est_quadrant_t* const* children) const {
    std::array<Values, P8EST_CHILDREN> values;
    bool good = parent.number >= 0 && !slopes.empty();
    for (std::size_t c = 0; c < values.size(); ++c) {
      values[c] = parent.values;
      for (std::size_t a = 0; a < 3 && good; ++a) {
        const double part = (c >> a & 1u) != 0 ? 0.25 : -0.25;
        for (std::size_t n = 0; n < fields; ++n)
          values[c][n] += part * slopes[static_cast<std::size_t>(parent.number)][a][n];
      }
    }
    good = good && std::all_of(values.begin(), values.end(), fits);
    for (std::size_t c = 0; c < values.size(); ++c) {
      load(children[c]) = {good ? values[c] : parent.values, -1, Mark::keep};
    }
  }
};

Forest::Forest(MPI_Comm comm, bool periodic, int level) : comm_(comm), cube_(make_cube(periodic)) {
  forest_ = p8est_new_ext(comm, cube_, 0, level, 1, sizeof(Load), nullptr, nullptr);
  deal();
  look();
}

Forest::Forest(MPI_Comm comm, bool periodic, const std::vector<Leaf>& leaves, std::vector<Values>& values)
    : comm_(comm), cube_(make_cube(periodic)) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const auto count = static_cast<p4est_gloidx_t>(leaves.size());
  std::vector<p4est_gloidx_t> first(static_cast<std::size_t>(ranks) + 1, 0);
  MPI_Allgather(&count, 1, MPI_INT64_T, first.data() + 1, 1, MPI_INT64_T, comm);
  for (std::size_t r = 1; r < first.size(); ++r) first[r] += first[r - 1];
  const std::array<p4est_gloidx_t, 2> of_tree{0, first.back()};
  std::vector<std::array<p4est_qcoord_t, 4>> places;
  std::vector<Load> loads;
  for (std::size_t n = 0; n < leaves.size(); ++n) {
    const int shift = P8EST_MAXLEVEL - leaves[n].level;
    const auto& at = leaves[n].at;
    places.push_back({at[0] << shift, at[1] << shift, at[2] << shift, leaves[n].level});
    loads.push_back({values[n], -1, Mark::keep});
  }
  sc_array_t listed, carried;
  sc_array_init_data(&listed, places.data(), sizeof(p4est_qcoord_t), 4 * places.size());
  sc_array_init_data(&carried, loads.data(), sizeof(Load), loads.size());
  forest_ = p8est_inflate(comm, cube_, first.data(), of_tree.data(), &listed, &carried, nullptr);
  deal();
  take(values);
  look();
}

Forest::~Forest() {
  if (ghost_ != nullptr) p8est_ghost_destroy(ghost_);
  if (forest_ != nullptr) p8est_destroy(forest_);
  if (cube_ != nullptr) p8est_connectivity_destroy(cube_);
}

// Eight children stay together, so that coarsening does not depend on the distribution.
void Forest::deal() { p8est_partition(forest_, 1, nullptr); }

void Forest::put(const std::vector<Mark>& marks, const std::vector<Values>& values) {
  std::size_t n = 0;
  for (p8est_quadrant_t& leaf : own(forest_)) {
    load(&leaf) = {values[n], static_cast<std::int32_t>(n), marks[n]};
    ++n;
  }
}

void Forest::take(std::vector<Values>& values) const {
  values.clear();
  for (p8est_quadrant_t& leaf : own(forest_)) values.push_back(load(&leaf).values);
}

void Forest::adapt(const std::vector<Mark>& marks, int least, int most, std::vector<Values>& values,
                   const std::vector<std::array<Values, 3>>& slopes, const std::function<bool(const Values&)>& fits) {
  put(marks, values);
  Change change{least, most, slopes, fits};
  forest_->user_pointer = &change;
  p8est_coarsen_ext(forest_, 0, 0, Change::coarsen, nullptr, Change::replace);
  p8est_refine_ext(forest_, 0, most, Change::refine, nullptr, Change::replace);
  p8est_balance_ext(forest_, P8EST_CONNECT_FULL, nullptr, Change::replace);
  forest_->user_pointer = nullptr;
  deal();
  take(values);
  look();
}

void Forest::look() {
  if (ghost_ != nullptr) p8est_ghost_destroy(ghost_);
  ghost_ = p8est_ghost_new(forest_, P8EST_CONNECT_FACE);
  leaves_.clear();
  for (const p8est_quadrant_t& leaf : own(forest_)) leaves_.push_back(to_leaf(leaf));
  local_ = leaves_.size();
  for (std::size_t n = 0; n < ghost_->ghosts.elem_count; ++n) {
    leaves_.push_back(to_leaf(*p8est_quadrant_array_index(&ghost_->ghosts, n)));
  }
  mirrors_.clear();
  for (std::size_t n = 0; n < ghost_->mirrors.elem_count; ++n) {
    mirrors_.push_back(p8est_quadrant_array_index(&ghost_->mirrors, n)->p.piggy3.local_num);
  }
  faces_.clear();
  sides_.assign(6 * local_, {-1, -1, -1, -1});
  p8est_iterate(forest_, ghost_, this, nullptr, add_face, nullptr, nullptr);
}

void Forest::add_face(p8est_iter_face_info_t* info, void* self) {
  Forest& forest = *static_cast<Forest*>(self);
  const auto local = static_cast<std::int32_t>(forest.local_);
  const auto at = [&](std::size_t n) { return static_cast<p8est_iter_face_side_t*>(sc_array_index(&info->sides, n)); };
  const bool hanging = at(0)->is_hanging || (info->sides.elem_count > 1 && at(1)->is_hanging);
  for (int part = 0; part < (hanging ? 4 : 1); ++part) {
    Face face;
    bool whole = true;  // some of the four small cells may be irrelevant for this rank
    for (std::size_t n = 0; n < info->sides.elem_count; ++n) {
      const p8est_iter_face_side_t& side = *at(n);
      const bool ghost = side.is_hanging ? side.is.hanging.is_ghost[part] : side.is.full.is_ghost;
      const p4est_locidx_t number = side.is_hanging ? side.is.hanging.quadid[part] : side.is.full.quadid;
      whole = whole && number >= 0;
      const bool is_low = side.face % 2 == 1;  // the face is this cell's high one
      face.axis = static_cast<std::int8_t>(side.face / 2);
      (is_low ? face.low : face.high) = number + (ghost ? local : 0);
      if (hanging && !side.is_hanging) (is_low ? face.part_low : face.part_high) = static_cast<std::int8_t>(part);
    }
    if (whole) forest.add(face);
  }
}

void Forest::add(const Face& face) {
  const auto number = static_cast<std::int32_t>(faces_.size());
  const auto enter = [&](std::int32_t leaf, int part, int side) {
    if (leaf < 0 || static_cast<std::size_t>(leaf) >= local_) return;
    const auto at = 6 * static_cast<std::size_t>(leaf) + static_cast<std::size_t>(side);
    sides_[at][static_cast<std::size_t>(std::max(part, 0))] = number;
  };
  enter(face.low, face.part_low, 2 * face.axis + 1);
  enter(face.high, face.part_high, 2 * face.axis);
  faces_.push_back(face);
}

}  // namespace blast
