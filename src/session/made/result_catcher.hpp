// Receiver of a result that becomes a mesh.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/extend/kept_states.hpp"
#include "sidestream/extend/results.hpp"
#include "sidestream/kit/data/block_results.hpp"

namespace sidestream {

/// Keeps this server's part of a result in memory. Also passes on results whose file the configuration names.
class ResultCatcher final : public Results, public BlockResults, public KeptStates {
 public:
  /// `files`: receives the results of the `named` files; both must outlive this object.
  ResultCatcher(Results& files, const std::vector<std::string>& named, bool first)
      : files_(files), named_(named), first_(first) {}

  void add(const std::string& file, const Table& table) override;
  void add(const std::string& file, const Image& image) override;
  void add(const std::string& file, const Surface& surface) override;
  void add(const std::string& file, const CellSet& cells) override;
  void add(const std::string& file, const DataSet& data) override;
  void add_blocks(std::vector<ResultBlock> mine, std::vector<Attribute> about) override {
    blocks.push_back({std::move(mine), std::move(about)});
  }
  void keep_state(const std::string& name, BytesView mine, Communicator& servers, int most) override;
  [[nodiscard]] std::vector<Bytes> earlier_state(const std::string& name, Communicator& servers) override;
  void add_parts(const std::string& file, const Table& mine, Communicator& servers, Pieces how) override;
  void add_parts(const std::string& file, const Surface& mine, Communicator& servers, Pieces how) override;
  void add_parts(const std::string& file, const CellSet& mine, Communicator& servers, Pieces how) override;
  void add_parts(const std::string& file, const DataSet& mine, Communicator& servers, Pieces how) override;

  /// This server's part of a table; nothing if there is no such result, or if other servers have it.
  std::optional<Table> table{};
  std::optional<Surface> surface{};
  std::optional<CellSet> cells{};
  std::vector<DataSet::Array> arrays{};  ///< of all data sets
  struct Blocks {
    std::vector<ResultBlock> mine;
    std::vector<Attribute> about;
  };
  std::vector<Blocks> blocks{};  ///< by call of add_blocks

 private:
  [[nodiscard]] bool is_named(const std::string& file) const;
  template <class Result>
  void take(std::optional<Result>& mine, const Result& result, bool here);

  Results& files_;
  const std::vector<std::string>& named_;
  bool first_;  ///< true on rank 0, whose whole results count
};

}  // namespace sidestream
