// The task of `merge_tree`: the merge tree of a field's superlevel sets, distributed as in section 4.1 of "In situ and
// in-transit analysis of cosmological simulations" (Friesen et al., 2016), after Morozov and Weber (2013).
//
// In the first pass each server builds the trees of its cells (forest.hpp). Trees meet at their borders, and the parts
// that reach the borders are joined over servers (tree_reduction.cpp). After that every server knows, for each of its
// cells, the component in the whole mesh at any level. The second pass answers queries; partial answers are only added
// up.
#pragma once

#include <array>
#include <limits>
#include <map>

#include "cosmology/halos/merge_tree/tree_options.hpp"
#include "cosmology/halos/merge_tree/tree_queries.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {

inline void write_path(const DescentPath& way, ByteWriter& out) {
  out.put(way.tops);
  out.put(way.from);
}
inline DescentPath read_path(ByteReader& in) {
  DescentPath way;
  in.get(way.tops);
  in.get(way.from);
  return way;
}

inline void write_halos(const std::vector<TreeHalo>& halos, ByteWriter& out) {
  out.put(halos.size());
  std::vector<std::uint32_t> words;
  for (const TreeHalo& halo : halos) {
    words.clear();
    pack(halo.mass, words);
    pack(halo.volume, words);
    out.put(halo.top);
    out.put(halo.cells);
    out.put(words);
  }
}

/// Halos of one pair of thresholds, by peak.
using HaloMap = std::map<Index, TreeHalo>;

inline void read_halos(ByteReader& in, HaloMap& all) {
  const auto count = in.get<std::size_t>();
  std::vector<std::uint32_t> words;
  for (std::size_t n = 0; n < count; ++n) {
    const auto top = in.get<ValuedCell>();
    TreeHalo& halo = all[top.id];
    halo.top = top;
    halo.cells += in.get<Index>();
    in.get(words);
    const std::size_t first = add_packed(words.data(), words.size(), halo.mass);
    static_cast<void>(add_packed(words.data() + first, words.size() - first, halo.volume));
  }
}

/// The analysis, on a forest (forest.hpp).
template <class Forest>
class MergeTree final : public Task {
 public:
  using Border = typename Forest::Border;

  MergeTree(TreeQuery query, Forest forest) : query_(std::move(query)), forest_(std::move(forest)) {}

  Selection selection() const override {
    Selection selection{{{forest_.variable(), 0}}};
    selection.variables[0].covered = false;
    selection.geometry = false;
    return selection;
  }
  int passes() const override { return 2; }

  Bytes local(const LocalInput& input) override { return input.pass == 0 ? build(input) : ask(input); }

  Bytes combine(const CombineInput& input) override {
    if (input.pass == 0) return join(input);
    write_branches(input);
    write_answers(input);
    return {};
  }

  void discard(const Iteration&) noexcept override {
    forest_.clear();
    built_ = {};
    own_ = {};
  }

 private:
  [[nodiscard]] bool needs_mean() const {
    for (const Thresholds& one : query_.thresholds) {
      if (one.of_mean) return true;
    }
    return query_.cells && query_.cells->of_mean;
  }

  Bytes build(const LocalInput& input) {
    forest_.clear();
    built_ = {};
    forest_.build(input, built_);
    const Bytes mean = needs_mean() ? forest_.sum_values(input) : Bytes{};
    ByteWriter out;
    out.put(mean);
    if (input.stays) return out.take();  // otherwise combine reads the rest in place
    out.reserve(built_.border.size() * sizeof(Border) + built_.open.size() * sizeof(Triplet) + mean.size() + 64);
    out.put(built_.border);
    out.put(built_.open);
    built_ = {};
    return out.take();
  }

  Bytes join(const CombineInput& input) {
    Communicator& servers = input.communicator;
    Built<Border> all = std::move(built_);
    built_ = {};
    std::vector<Bytes> means;
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      in.get(means.emplace_back());
      if (in.at_end()) continue;
      Built<Border> one;
      in.get(one.border);
      in.get(one.open);
      all.append(std::move(one.border), one.open);
    }
    for (Border& cell : all.border) cell.owner = servers.rank() & 0xffffff;
    std::vector<TreeEdge> edges;
    for (const Triplet& one : all.open) edges.push_back({one.top, one.into, one.saddle});
    std::vector<Triplet>().swap(all.open);
    ByteWriter out;
    out.put(needs_mean() ? combine_mean(means, servers) : Bytes{});
    const std::vector<ServerEdge> met = forest_.meet(std::move(all.border), servers);
    std::int64_t elsewhere = input.local ? 0 : 1;
    servers.sum({&elsewhere, 1});
    out.put(elsewhere);
    if (elsewhere == 0) {
      own_ = reduce_trees(edges, met, servers);
    } else {
      for (const ServerEdge& one : met) edges.push_back(one.edge);
      out.put(join_forests(std::move(edges), servers));
    }
    return joined_ = out.take();
  }

  Bytes ask(const LocalInput& input) {
    ByteReader in(input.feedback);
    Bytes mean;
    in.get(mean);
    std::vector<Triplet> shared = std::move(own_);
    if (in.get<std::int64_t>() != 0) in.get(shared);
    forest_.set_input(input);
    const TreeAnswers<Forest> tree(forest_, shared);
    ByteWriter out;
    out.put(tree.branches(query_.least));
    if (query_.cells) out.put(tree.cells(query_.cells->above * (query_.cells->of_mean ? mean_of(mean) : 1)));
    for (const Thresholds& one : query_.thresholds) {
      const double unit = one.of_mean ? mean_of(mean) : 1;
      write_halos(tree.halos(one.boundary * unit, one.peak * unit), out);
    }
    for (const Question& question : query_.questions) {
      for (const Index3& place : {question.from, question.to}) write_path(tree.descent_path(place), out);
    }
    forest_.clear();
    return out.take();
  }

  void write_branches(const CombineInput& input) {
    std::vector<Branch> mine;
    std::vector<KeptCell> cells;
    rest_.clear();
    for (const Bytes& partial : input.partials) {
      ByteReader in(partial);
      std::vector<Branch> some;
      in.get(some);
      mine.insert(mine.end(), some.begin(), some.end());
      if (query_.cells) {
        std::vector<KeptCell> kept;
        in.get(kept);
        cells.insert(cells.end(), kept.begin(), kept.end());
      }
      rest_.emplace_back(partial.end() - static_cast<std::ptrdiff_t>(in.left()), partial.end());
    }
    const std::vector<Branch> branches = sorted_records(
        mine, [](const Branch& branch) { return branch.top.id; }, input.communicator);
    std::vector<std::int64_t> birth_ids, saddle_ids, into;
    std::vector<double> births, deaths, persistences;
    for (const Branch& branch : branches) {
      const bool root = branch.saddle.id < 0;
      birth_ids.push_back(branch.top.id);
      saddle_ids.push_back(branch.saddle.id);
      into.push_back(branch.into);
      births.push_back(branch.top.value);
      deaths.push_back(root ? -std::numeric_limits<double>::infinity() : branch.saddle.value);
      persistences.push_back(persistence(births.back(), deaths.back()));
    }
    std::vector<Column> columns{{"birth_index", birth_ids}, {"saddle_index", saddle_ids},
                                {"into_index", into},       {"birth", births},
                                {"death", deaths},          {"persistence", persistences}};
    forest_.add_places("birth_", birth_ids, columns);
    forest_.add_places("saddle_", saddle_ids, columns);
    const Table table(std::move(columns));
    input.results.add_parts(query_.file, table, input.communicator, query_.pieces);
    if (query_.cells) write_cells(std::move(cells), input);
  }

  void write_cells(std::vector<KeptCell> mine, const CombineInput& input) const {
    std::vector<std::int64_t> ids, tops;
    std::vector<double> values;
    for (const KeptCell& one : sorted_records(
             mine, [](const KeptCell& kept) { return kept.cell.id; }, input.communicator)) {
      ids.push_back(one.cell.id);
      tops.push_back(one.top);
      values.push_back(one.cell.value);
    }
    std::vector<Column> columns{{"cell_index", ids}, {"value", values}, {"top_index", tops}};
    forest_.add_cells(ids, columns);
    const Table table(std::move(columns));
    input.results.add_parts(query_.cells->file, table, input.communicator, query_.pieces);
  }

  void write_answers(const CombineInput& input) {
    if (query_.thresholds.empty() && query_.questions.empty()) return;
    std::vector<HaloMap> halos(query_.thresholds.size());
    std::vector<std::array<DescentPath, 2>> ways(query_.questions.size());
    ByteWriter mine;
    mine.put(rest_);
    for (const Bytes& bytes : input.communicator.gather(mine.bytes(), 0)) {
      ByteReader in(bytes);
      std::vector<Bytes> parts;
      in.get(parts);
      for (const Bytes& part : parts) {
        ByteReader one(part);
        for (HaloMap& all : halos) read_halos(one, all);
        for (auto& pair : ways) {
          for (DescentPath& way : pair) {
            DescentPath found = read_path(one);
            if (!found.tops.empty()) way = std::move(found);
          }
        }
      }
    }
    if (input.communicator.rank() != 0) return;
    if (!query_.thresholds.empty()) input.results.add(query_.halos_file, halo_table(halos));
    if (!query_.questions.empty()) input.results.add(query_.answers_file, answer_table(ways));
  }

  [[nodiscard]] Table halo_table(const std::vector<HaloMap>& halos) const {
    ByteReader in(joined_);
    Bytes mean;
    in.get(mean);
    std::vector<std::int64_t> queries, ids, cells;
    std::vector<double> boundaries, peaks, values, masses, volumes;
    for (std::size_t q = 0; q < halos.size(); ++q) {
      const Thresholds& one = query_.thresholds[q];
      const double unit = one.of_mean ? mean_of(mean) : 1;
      for (const auto& [id, halo] : halos[q]) {
        if (halo.cells < one.least_cells) continue;
        queries.push_back(static_cast<std::int64_t>(q));
        boundaries.push_back(one.boundary * unit);
        peaks.push_back(one.peak * unit);
        ids.push_back(id);
        values.push_back(halo.top.value);
        cells.push_back(halo.cells);
        masses.push_back(halo.mass.value() * forest_.unit_volume());
        volumes.push_back(halo.volume.value() * forest_.unit_volume());
      }
    }
    std::vector<Column> columns{{"query", queries},     {"boundary", boundaries}, {"halo", peaks}, {"peak_index", ids},
                                {"peak_value", values}, {"cells", cells},         {"mass", masses}};
    if constexpr (!Forest::equal_cells) columns.push_back({"volume", volumes});
    forest_.add_places("peak_", ids, columns);
    return Table(std::move(columns));
  }

  [[nodiscard]] Table answer_table(const std::vector<std::array<DescentPath, 2>>& ways) const {
    std::vector<std::int64_t> questions, connected, saddles;
    std::vector<double> above, saddle_values;
    for (std::size_t q = 0; q < ways.size(); ++q) {
      const ValuedCell meeting = common_saddle(ways[q][0], ways[q][1]);
      questions.push_back(static_cast<std::int64_t>(q));
      above.push_back(query_.questions[q].above);
      connected.push_back(meeting.id >= 0 && meeting.value >= query_.questions[q].above ? 1 : 0);
      saddle_values.push_back(meeting.value);
      saddles.push_back(meeting.id);
    }
    std::vector<Column> columns{{"question", questions},
                                {"above", above},
                                {"connected", connected},
                                {"highest", saddle_values},
                                {"saddle_index", saddles}};
    forest_.add_places("saddle_", saddles, columns);
    return Table(std::move(columns));
  }

  TreeQuery query_;
  Forest forest_;             ///< its trees are kept between the passes of one iteration
  Built<Border> built_;       ///< kept between `build` and `join`, if partials stay in place
  std::vector<Triplet> own_;  ///< kept between the passes: triplets of this server's maxima, if it has their cells
  Bytes joined_;              ///< kept between the passes: the result of `join`
  std::vector<Bytes> rest_;   ///< of partials: everything after the branches
};

}  // namespace sidestream::halos
