// Results as files in an output directory: whole results, servers' pieces, growing tables, charts, pictures.
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/extend/writer.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/data/beside_results.hpp"
#include "sidestream/kit/data/file_pattern.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/charts/drawing.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/results/earlier_results.hpp"
#include "storage/results/kept_states.hpp"
#include "storage/results/picture_files.hpp"
#include "storage/results/series.hpp"
#include "storage/results/table_files.hpp"

namespace sidestream {

/// Makes the Results that `combine` gets, and stores them in files. The file's ending selects the format from the
/// registry. Rank 0 writes whole results; the other ranks only write pieces. If the directory resumes, existing tables
/// and series are continued. Their entries of iterations at or after the first one of this run are dropped, others kept
/// (see ResumeFilter).
class ResultStore {
 public:
  ResultStore(const Registry& registry, std::shared_ptr<const OutputDirectory> directory, int rank)
      : rank_(rank),
        formats_(registry.formats()),
        directory_(directory),
        series_(directory),
        tables_(directory),
        names_(directory),
        states_(directory),
        pictures_(directory, formats_, tables_),
        charts_(rank == 0 ? make_chart_drawing() : nullptr) {}

  [[nodiscard]] std::unique_ptr<Results> begin(const Iteration& iteration);

  void add(const std::string& file, const Iteration& iteration, const Table& table) {
    if (rank_ != 0) return;
    const ResultFormat& format = format_of(file, &ResultFormat::table, "tables");
    tables_.keep_provenance();
    if (!names_iteration(file)) return tables_.append(format, file, iteration, table, *first_);
    write(file, iteration,
          [&](const std::string& path) { format.table(path, table, false, directory_->provenance()); });
  }
  [[nodiscard]] std::vector<std::vector<std::string>> earlier_rows(const std::string& file,
                                                                   const Iteration& iteration) const {
    if (rank_ != 0) return {};
    return tables_.earlier_rows(file, iteration, *first_);
  }
  void add(const std::string& file, const Iteration& iteration, const Image& image) {
    if (rank_ != 0) return;
    const ResultFormat& format = format_of(file, &ResultFormat::image, "images");
    write(file, iteration, [&](const std::string& path) { format.image(path, image, directory_->provenance()); });
  }
  void add(const std::string& file, const Iteration& iteration, const SurfaceStream& surface) {
    if (rank_ != 0) return;
    const ResultFormat& format = format_of(file, &ResultFormat::surface, "surfaces");
    write(file, iteration,
          [&](const std::string& path) { format.surface(path, surface, iteration, directory_->provenance()); });
  }
  void add(const std::string& file, const Iteration& iteration, const CellSet& cells) {
    if (rank_ != 0) return;
    const ResultFormat& format = format_of(file, &ResultFormat::cells, "cells");
    write(file, iteration,
          [&](const std::string& path) { format.cells(path, cells, iteration, directory_->provenance()); });
  }
  void add(const std::string& file, const Iteration& iteration, std::span<const DataSet> parts) {
    if (rank_ != 0) return;
    const ResultFormat& format = format_of(file, &ResultFormat::data, "data sets");
    write(file, iteration,
          [&](const std::string& path) { format.data(path, parts, iteration, directory_->provenance()); });
  }

  [[nodiscard]] std::string add_picture(const std::string& database, const std::string& name,
                                        const Iteration& iteration, const Image& picture) {
    return rank_ == 0 ? pictures_.add(database, name, iteration, picture) : "";
  }
  void list_pictures(const std::string& database, const Iteration& iteration, const Table& rows) {
    if (rank_ != 0) return;
    tables_.keep_provenance();
    pictures_.list(database, iteration, rows, *first_);
  }
  void draw(const ChartOrder& order, const Iteration& iteration);
  [[nodiscard]] const StateFiles& states() const noexcept { return states_; }
  /// Sets the first iteration of these servers, if others of the same session had those before.
  void take_over_at(std::int64_t iteration) noexcept { states_.take_over_at(iteration); }

  void add_pieces(const std::string& file, const Iteration& iteration, const Table& mine, Communicator& servers);
  void add_pieces(const std::string& file, const Iteration& iteration, const SurfaceStream& mine,
                  Communicator& servers);
  void add_pieces(const std::string& file, const Iteration& iteration, const CellSet& mine, Communicator& servers);
  void add_pieces(const std::string& file, const Iteration& iteration, const DataSet& mine, Communicator& servers);

  /// True if there is a format for such results, or for their pieces.
  template <class Member>
  [[nodiscard]] bool has(const std::string& file, Member member) const {
    const auto found = formats_.find(ending_of(file));
    return found != formats_.end() && found->second.*member;
  }

 private:
  template <class Member>
  const ResultFormat& format_of(const std::string& file, Member member, const char* what) const {
    const auto found = formats_.find(ending_of(file));
    if (found != formats_.end() && found->second.*member) return found->second;
    std::string known;
    for (const auto& [ending, format] : formats_) {
      if (format.*member) known += (known.empty() ? "" : ", ") + ending;
    }
    fail(Code::configuration, "the file name '{}' has no ending that {} can be written to; use one of: {}", file, what,
         known);
  }

  static std::string ending_of(const std::string& file) { return std::filesystem::path(file).extension().string(); }

  /// Refuses a second result for the same file from analyses that run together.
  void claim(const std::string& file, const Iteration& iteration) {
    const auto [last, is_new] = latest_.try_emplace(file, begun_);
    if (is_new || std::exchange(last->second, begun_) != begun_) return;
    fail(Code::configuration, "two results of iteration {} go to '{}'; give the analyses different file names",
         iteration.index, directory_->path(file, iteration, 0));
  }

  /// Keeps an earlier run's version of a file that every iteration replaces.
  void keep_earlier_file(const std::string& file, const Iteration& iteration) {
    if (!directory_->resumes() || directory_->within_session() || !replaced_.insert(file).second) return;
    keep_earlier(directory_->path(file, iteration, 0));
  }

  /// Lets `put` write a temporary file, renames it, then enters it in its series.
  template <class Put>
  void write(const std::string& file, const Iteration& iteration, Put put) {
    claim(file, iteration);
    if (!names_iteration(file)) {
      keep_earlier_file(file, iteration);
      return replace_file(*directory_, directory_->path(file, iteration, 0), put);
    }
    Series& series = series_.of(file, *first_);
    const std::string path = names_.choose(file, iteration);
    replace_file(*directory_, path, put);
    try {
      series.add(iteration, path);
    } catch (...) {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
      throw;
    }
    names_.written(path);
    paths_[file] = path;
  }
  [[nodiscard]] std::string table_of(const ChartOrder& order, const Iteration& iteration);

  /// Description of a piece, sent to rank 0.
  struct Piece {
    PieceFile file;
    Bytes description;
  };
  using PutPiece = std::function<void(const std::string& path)>;
  using PutList = std::function<void(const std::string& path, const std::vector<Piece>& pieces)>;
  std::string list_of(const std::string& file, const std::string& listed, const Iteration& iteration);
  std::string choose_list(const std::string& file, const Iteration& iteration, Communicator& servers);
  void write_pieces(const std::string& file, const Iteration& iteration, Communicator& servers, Piece mine,
                    const PutPiece& put, const PutList& list);

  int rank_;
  std::map<std::string, ResultFormat> formats_;
  std::shared_ptr<const OutputDirectory> directory_;
  SeriesSet series_;
  TableFiles tables_;
  FileNames names_;
  StateFiles states_;
  PictureFiles pictures_;
  std::int64_t begun_ = 0;                      ///< calls of `begin`: one for each iteration, and more for requests
  std::map<std::string, std::int64_t> latest_;  ///< by pattern: the call of `begin` before its last write
  std::set<std::string> replaced_;              ///< files that this run has replaced
  std::map<std::string, std::string> lists_;    ///< lists of pieces that each iteration replaces, by pattern
  std::map<std::string, std::string> paths_;    ///< by pattern: last path of files whose names contain the iteration
  std::optional<Iteration> first_;              ///< first iteration of this run
  std::unique_ptr<ChartDrawing> charts_;        ///< destroyed first, because finished charts are entered in series
};

}  // namespace sidestream
