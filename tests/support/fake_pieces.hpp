// Pieces of decompositions, as servers give them to analyses, of a mesh with known fields.
#pragma once

#include <fstream>
#include <sstream>

#include "support/fake_domain.hpp"

namespace sidestream::testing {

/// The pieces of a selection that a server has.
class FakePieces {
 public:
  /// `absent` are cells that nobody published.
  FakePieces(const FakeDomain& domain, const Selection& selection, int servers, int server, const Box& absent)
      : blocks_(domain.metadata.variables.size()) {
    for (const Selected& selected : selection.variables) {
      std::vector<BlockView>& views = pieces_.emplace_back();
      const Box cells = piece_of(selected.decomposition, domain.mesh(), servers, server);
      if (!cells.empty()) views.push_back(view_of(domain, static_cast<std::size_t>(selected.variable), cells, absent));
      EntryViews& entry = entries_.emplace_back();
      entry.variable = selected.variable;
      entry.views.resize(domain.metadata.variables.size(), nullptr);
      entry.views[static_cast<std::size_t>(selected.variable)] = &views;
    }
  }
  [[nodiscard]] const std::vector<EntryViews>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<std::vector<BlockView>>& blocks() const { return blocks_; }

 private:
  BlockView view_of(const FakeDomain& domain, std::size_t v, const Box& cells, const Box& absent) {
    const Variable& variable = domain.metadata.variables[v];
    BlockView view;
    view.block.id = -1;
    view.block.cells = view.points = cells;
    view.owned = difference(std::vector<Box>{cells}, absent);
    if (!intersection(cells, absent).empty()) view.absent = {intersection(cells, absent)};
    ArrayView& array = view.array;
    array.type = variable.type;
    array.box = cells;
    array.components = variable.components;
    array.strides = packed_strides(cells, variable.components, variable.order);
    Bytes& bytes = memory_.emplace_back(packed_bytes(cells, variable.components, variable.type));
    array.data = bytes.data();
    with_type(variable.type, [&](auto zero) {
      using T = decltype(zero);
      for (Index k = cells.lo[2]; k < cells.hi[2]; ++k) {
        for (Index j = cells.lo[1]; j < cells.hi[1]; ++j) {
          for (Index i = cells.lo[0]; i < cells.hi[0]; ++i) {
            for (int c = 0; c < variable.components; ++c) {
              *const_cast<T*>(array.at<T>(i, j, k, c)) = static_cast<T>(domain.value(v, {i, j, k}, c));
            }
          }
        }
      }
    });
    return view;
  }

  std::deque<Bytes> memory_;
  std::deque<std::vector<BlockView>> pieces_;
  std::vector<EntryViews> entries_;
  std::vector<std::vector<BlockView>> blocks_;
};

struct PieceRun {
  int groups = 1;  ///< if more than one, so many other objects on each server call `local`, as with forwarded partials
  Box absent{};
};

/// Runs an analysis of pieces through all its passes on the members of `servers`.
inline CapturedResults run_pieces(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain,
                                  Communicator& servers, const PieceRun& how = {}) {
  const auto make = [&] { return kind.create(fake_settings(kind, yaml, domain.metadata), domain.metadata); };
  const auto combiner = make();
  std::vector<std::unique_ptr<Task>> reducers;
  for (int g = 0; how.groups > 1 && g < how.groups; ++g) reducers.push_back(make());
  std::deque<FakePieces> pieces;
  for (int g = 0; g < how.groups; ++g) {
    pieces.emplace_back(domain, combiner->selection(), servers.size() * how.groups, servers.rank() * how.groups + g,
                        how.absent);
  }
  CapturedResults results;
  Bytes feedback;
  for (int pass = 0; pass < combiner->passes(); ++pass) {
    std::vector<Bytes> partials;
    std::optional<LocalInput> input;
    for (int g = 0; g < how.groups; ++g) {
      const auto n = static_cast<std::size_t>(g);
      input.emplace(LocalInput{{},
                               domain.metadata,
                               pieces[n].blocks(),
                               pass,
                               feedback,
                               nullptr,
                               pieces[n].entries(),
                               servers.rank() * how.groups + g,
                               servers.size() * how.groups});
      input->stays = how.groups == 1;
      partials.push_back((how.groups == 1 ? *combiner : *reducers[n]).local(*input));
    }
    feedback =
        combiner->combine({{}, domain.metadata, partials, pass, servers, results, how.groups == 1 ? &*input : nullptr});
  }
  return results;
}

/// The same, only in this process.
inline CapturedResults run_pieces_alone(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain,
                                        const PieceRun& how = {}) {
  MpiCommunicator self(MPI_COMM_SELF);
  return run_pieces(kind, yaml, domain, self, how);
}

/// The rows of a table of numbers under tests/data/cosmology.
inline std::vector<std::vector<double>> cosmology_table(const std::string& name) {
  std::ifstream in(std::string(SIDESTREAM_COSMOLOGY_DATA) + "/" + name);
  std::vector<std::vector<double>> rows;
  std::string line, cell;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::vector<double>& row = rows.emplace_back();
    while (std::getline(cells, cell, ','))
      row.push_back(cell.find_first_of("0123456789") == 0 || cell[0] == '-' ? std::stod(cell) : 0);
  }
  return rows;
}

/// A column of a table, as doubles.
inline std::vector<double> column(const Table& table, const std::string& name) {
  for (const Column& c : table.columns()) {
    if (c.name != name) continue;
    if (const auto* reals = std::get_if<std::vector<double>>(&c.values)) return *reals;
    const auto& whole = std::get<std::vector<std::int64_t>>(c.values);
    return {whole.begin(), whole.end()};
  }
  throw Error(Code::internal, "no column " + name);
}

}  // namespace sidestream::testing
