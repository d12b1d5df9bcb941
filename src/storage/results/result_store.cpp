// Results of analyses as files.
//
// 1. begin: one FileResults for each iteration. Its calls choose a format by the file's ending, and a way: a whole
//    file, rows of a table that all iterations share, or pieces.
// 2. write_pieces: rank 0 chooses the name of the list; servers write their pieces in turn under temporary names. When
//    all have succeeded, rank 0 writes the list, all files get their names, and the index of the series is extended. A
//    failure on any server removes all of them.
// 3. draw: starts a program for the picture; it is entered into its series when the program has ended.
// add_parts, add_pieces and states are collective; the others run on rank 0.
#include "storage/results/result_store.hpp"

#include <fmt/format.h>

#include "base/mpi/agree.hpp"
#include "sidestream/extend/kept_states.hpp"
#include "sidestream/kit/data/beside_results.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/results/result_bytes.hpp"
#include "storage/results/result_parts.hpp"

namespace sidestream {

namespace fs = std::filesystem;

/// Path of the table for a chart order.
std::string ResultStore::table_of(const ChartOrder& order, const Iteration& iteration) {
  if (!names_iteration(order.table)) return directory_->path(order.table, iteration, 0);
  if (order.of_all) return series_.of(order.table, *first_).index();
  const auto found = paths_.find(order.table);
  return found == paths_.end() ? directory_->path(order.table, iteration, 0) : found->second;
}

void ResultStore::draw(const ChartOrder& order, const Iteration& iteration) {
  if (rank_ != 0) return;
  claim(order.image, iteration);
  const bool each = names_iteration(order.image);
  if (!each) keep_earlier_file(order.image, iteration);
  const std::string path = each ? names_.choose(order.image, iteration) : directory_->path(order.image, iteration, 0);
  if (each) names_.written(path);
  std::vector<std::string> arguments = order.arguments;
  arguments.push_back("--output=" + path);
  arguments.push_back("--provenance=" + directory_->provenance());
  if (!names_iteration(order.table) || order.of_all) {
    arguments.push_back("--iteration=" + std::to_string(iteration.index));
  }
  arguments.insert(arguments.end(), {"--", table_of(order, iteration)});
  charts_->draw(path, std::move(arguments), [this, each, path, iteration, pattern = order.image] {
    if (each) series_.of(pattern, *first_).add(iteration, path);
  });
}

/// Path of the list. Pieces of an earlier run that every iteration would replace keep their names.
std::string ResultStore::list_of(const std::string& file, const std::string& listed, const Iteration& iteration) {
  if (names_iteration(file) || directory_->within_session()) {
    return names_iteration(file) ? names_.choose(listed, iteration) : directory_->path(listed, iteration, 0);
  }
  const auto [chosen, is_new] = lists_.try_emplace(file);
  if (is_new) chosen->second = names_.choose(listed, iteration);
  return chosen->second;
}

/// Path of the file that lists the pieces, the same on all servers. Collective.
std::string ResultStore::choose_list(const std::string& file, const Iteration& iteration, Communicator& servers) {
  Bytes name;
  run_collectively(servers, [&] {
    if (servers.rank() != 0) return;
    claim(file, iteration);
    const std::string listed = fs::path(file).replace_extension(formats_.at(ending_of(file)).list_ending).string();
    ByteWriter sink;
    sink.put(list_of(file, listed, iteration));
    name = sink.take();
  });
  servers.broadcast(name, 0);
  std::string path;
  ByteReader(name).get(path);
  return path;
}

/// Writes the non-empty pieces. Collective. Files appear on all servers or on none.
void ResultStore::write_pieces(const std::string& file, const Iteration& iteration, Communicator& servers, Piece mine,
                               const PutPiece& put, const PutList& list) {
  const std::string path = choose_list(file, iteration, servers);
  const fs::path folder = fs::path(path).replace_extension();
  const std::string name = fmt::format("piece-{:06}{}", servers.rank(), ending_of(file));
  PendingFiles pending(directory_);
  std::string failure;
  take_turns(servers, directory_->writers(), [&] {
    failure = failure_of([&] {
      if (mine.file.count > 0) put(pending.begin((folder / name).string()));
    });
  });
  ByteWriter sink;
  sink.put((folder.filename() / name).generic_string());
  sink.put(mine.file.count);
  sink.put(mine.description);
  const Bytes partial = sink.take();
  pending.commit(servers, {&partial, 1}, failure, [&](const std::vector<Bytes>& partials) {
    std::vector<Piece> pieces;
    for (const Bytes& bytes : partials) {
      Piece& piece = pieces.emplace_back();
      ByteReader source(bytes);
      source.get(piece.file.file);
      source.get(piece.file.count);
      source.get(piece.description);
    }
    pending.place(path, [&](const std::string& temporary) { list(temporary, pieces); });
    if (names_iteration(file)) pending.enter(series_.of(file, *first_), iteration, path);
  });
  if (rank_ == 0 && names_iteration(file)) names_.written(path);
  paths_[file] = path;
}

template <class Piece>
std::vector<PieceFile> written(const std::vector<Piece>& pieces) {
  std::vector<PieceFile> files;
  for (const Piece& piece : pieces) {
    if (piece.file.count > 0) files.push_back(piece.file);
  }
  return files;
}

void ResultStore::add_pieces(const std::string& file, const Iteration& iteration, const Table& mine,
                             Communicator& servers) {
  const ResultFormat& format = format_of(file, &ResultFormat::table, "tables");
  write_pieces(
      file, iteration, servers, {{{}, mine.rows()}, {}},
      [&](const std::string& path) { format.table(path, mine, false, directory_->provenance()); },
      [&](const std::string& path, const std::vector<Piece>& pieces) {
        tables_.keep_provenance();
        format.table_list(path, mine, written(pieces));
      });
}

void ResultStore::add_pieces(const std::string& file, const Iteration& iteration, const SurfaceStream& mine,
                             Communicator& servers) {
  const ResultFormat& format = format_of(file, &ResultFormat::surface, "surfaces");
  write_pieces(
      file, iteration, servers, {{{}, mine.points()}, {}},
      [&](const std::string& path) { format.surface(path, mine, iteration, directory_->provenance()); },
      [&](const std::string& path, const std::vector<Piece>& pieces) {
        format.surface_list(path, mine.outline(), written(pieces), iteration, directory_->provenance());
      });
}

void ResultStore::add_pieces(const std::string& file, const Iteration& iteration, const CellSet& mine,
                             Communicator& servers) {
  const ResultFormat& format = format_of(file, &ResultFormat::cells, "cells");
  write_pieces(
      file, iteration, servers, {{{}, mine.types.size()}, {}},
      [&](const std::string& path) { format.cells(path, mine, iteration, directory_->provenance()); },
      [&](const std::string& path, const std::vector<Piece>& pieces) {
        format.cells_list(path, mine, written(pieces), iteration, directory_->provenance());
      });
}

void ResultStore::add_pieces(const std::string& file, const Iteration& iteration, const DataSet& mine,
                             Communicator& servers) {
  const ResultFormat& format = format_of(file, &ResultFormat::data, "data sets");
  Piece own;
  own.file.count = 1;
  own.description = packed(without_values(mine));
  write_pieces(
      file, iteration, servers, std::move(own),
      [&](const std::string& path) {
        for (const DataSet::Array& array : mine.arrays) check_array(array);
        format.data(path, {&mine, 1}, iteration, directory_->provenance());
      },
      [&](const std::string& path, const std::vector<Piece>& pieces) {
        std::vector<DataSet> parts;
        for (const Piece& piece : pieces) parts.push_back(unpacked<DataSet>(piece.description));
        check_parts(parts);
        format.data_list(path, parts, written(pieces), iteration, directory_->provenance());
      });
}

namespace {

class FileResults final : public Results, public ResultServices, public KeptStates {
 public:
  void keep_state(const std::string& name, BytesView mine, Communicator& servers, int most) override {
    store_.states().keep(name, iteration_, mine, servers, most);
  }
  [[nodiscard]] std::vector<Bytes> earlier_state(const std::string& name, Communicator& servers) override {
    return store_.states().earlier(name, iteration_, servers);
  }
  void remark(const std::string& sentence) override { remarks_ += (remarks_.empty() ? "" : "; ") + sentence; }
  [[nodiscard]] std::string take_remarks() override { return std::exchange(remarks_, {}); }
  [[nodiscard]] std::vector<std::vector<std::string>> earlier_rows(const std::string& file) const override {
    return store_.earlier_rows(file, iteration_);
  }
  FileResults(ResultStore& store, const Iteration& iteration) : store_(store), iteration_(iteration) {}
  void add(const std::string& file, const Table& table) override {
    check_texts(file, table);
    if (!is_data(file)) return store_.add(file, iteration_, table);
    add(file, data_set_of(file, table, 0, static_cast<Index>(table.rows())));
  }
  void draw(const ChartOrder& order) override { store_.draw(order, iteration_); }
  std::string add_picture(const std::string& database, const std::string& name, const Image& picture) override {
    return store_.add_picture(database, name, iteration_, picture);
  }
  void list_pictures(const std::string& database, const Table& rows) override {
    store_.list_pictures(database, iteration_, rows);
  }
  void add(const std::string& file, const Image& image) override { store_.add(file, iteration_, image); }
  void add(const std::string& file, const Surface& surface) override {
    check_surface(file, surface);
    add_stream(file, WholeSurface(surface));
  }
  void add_stream(const std::string& file, const SurfaceStream& surface) override {
    store_.add(file, iteration_, surface);
  }
  void add(const std::string& file, const CellSet& cells) override {
    check_texts(file, cells.point_data);
    check_texts(file, cells.cell_data);
    store_.add(file, iteration_, cells);
  }
  void add(const std::string& file, const DataSet& data) override { add_whole(file, {&data, 1}); }

  void add_parts(const std::string& file, const Table& mine, Communicator& servers, Pieces how) override {
    run_collectively(servers, [&] { check_texts(file, mine); });
    if (is_data(file)) return add_as_data(*this, file, mine, servers, how);
    if (names_iteration(file) && store_.has(file, &ResultFormat::table_list) &&
        in_pieces(how, bytes_of(mine), servers)) {
      return store_.add_pieces(file, iteration_, mine, servers);
    }
    Results::add_parts(file, mine, servers, how);
  }
  void add_parts(const std::string& file, const Surface& mine, Communicator& servers, Pieces how) override {
    run_collectively(servers, [&] { check_surface(file, mine); });
    if (in_surface_pieces(file, WholeSurface(mine), servers, how)) {
      return store_.add_pieces(file, iteration_, WholeSurface(mine), servers);
    }
    Results::add_parts(file, mine, servers, how);
  }
  void add_stream_parts(const std::string& file, const SurfaceStream& mine, Communicator& servers,
                        Pieces how) override {
    if (in_surface_pieces(file, mine, servers, how)) return store_.add_pieces(file, iteration_, mine, servers);
    Results::add_parts(file, collected(mine), servers, how);
  }
  void add_parts(const std::string& file, const CellSet& mine, Communicator& servers, Pieces how) override {
    run_collectively(servers, [&] {
      check_texts(file, mine.point_data);
      check_texts(file, mine.cell_data);
    });
    if (store_.has(file, &ResultFormat::cells_list) && in_pieces(how, bytes_of(mine), servers)) {
      return store_.add_pieces(file, iteration_, mine, servers);
    }
    Results::add_parts(file, mine, servers, how);
  }
  void add_parts(const std::string& file, const DataSet& mine, Communicator& servers, Pieces how) override {
    run_collectively(servers, [&] { check_texts(file, mine); });
    if (store_.has(file, &ResultFormat::data_list) && in_pieces(how, bytes_of(mine), servers)) {
      return store_.add_pieces(file, iteration_, mine, servers);
    }
    if (servers.size() == 1) return add_whole(file, std::span(&mine, 1));
    // Each part goes to its place in the file, so the parts are never joined in memory.
    const std::vector<DataSet> parts = gather_parts(mine, servers);
    run_collectively(servers, [&] {
      if (servers.rank() == 0) add_whole(file, parts);
    });
  }

 private:
  /// True if the file is a data set, so that a table is converted.
  [[nodiscard]] bool is_data(const std::string& file) const {
    return names_iteration(file) && !store_.has(file, &ResultFormat::table) && store_.has(file, &ResultFormat::data);
  }
  [[nodiscard]] bool in_surface_pieces(const std::string& file, const SurfaceStream& mine, Communicator& servers,
                                       Pieces how) const {
    return store_.has(file, &ResultFormat::surface_list) && in_pieces(how, bytes_of(mine), servers);
  }
  void add_whole(const std::string& file, std::span<const DataSet> parts) {
    for (const DataSet& part : parts) {
      check_texts(file, part);
      for (const DataSet::Array& array : part.arrays) check_array(array);
    }
    check_parts(parts);
    store_.add(file, iteration_, parts);
  }

  std::string remarks_;
  ResultStore& store_;
  Iteration iteration_;
};

}  // namespace

std::unique_ptr<Results> ResultStore::begin(const Iteration& iteration) {
  if (!first_) first_ = iteration;
  ++begun_;
  if (charts_) charts_->poll();
  return std::make_unique<FileResults>(*this, iteration);
}

}  // namespace sidestream
