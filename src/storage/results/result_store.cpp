#include "base/mpi/agree.hpp"
#include "sidestream/kit/data/beside_results.hpp"
#include "sidestream/extend/kept_states.hpp"
#include "storage/results/file_store.hpp"
#include "storage/results/result_bytes.hpp"
#include "storage/results/result_parts.hpp"

namespace sidestream {

namespace {

class FileResults final : public Results,
                          public EarlierTables,
                          public ChartResults,
                          public PictureDatabases,
                          public ResultRemarks,
                          public KeptStates {
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
  FileResults(FileStore& store, const Iteration& iteration) : store_(store), iteration_(iteration) {}
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
  /// True if a table becomes a data set in that file.
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
  FileStore& store_;
  Iteration iteration_;
};

}  // namespace

std::unique_ptr<Results> FileStore::begin(const Iteration& iteration) {
  if (!first_) first_ = iteration;
  ++begun_;
  if (charts_) charts_->look();
  return std::make_unique<FileResults>(*this, iteration);
}

std::unique_ptr<ResultStore> make_result_store(const Registry& registry,
                                               std::shared_ptr<const OutputDirectory> directory, int rank) {
  return std::make_unique<FileStore>(registry, std::move(directory), rank);
}

}  // namespace sidestream
