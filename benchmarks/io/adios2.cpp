// ADIOS2's BP5: one data set that grows from step to step, with A files of values.
#include <adios2.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "plain_file.hpp"

namespace io {

namespace {

class Adios2 final : public Method {
 public:
  Adios2(const Options& options, const std::string& folder) : path_(folder + "/fields.bp"), files_(options.files) {}

  void write(const Fields& fields, int step, Sync sync) override {
    if (!engine_) open(fields);
    engine_.BeginStep();
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      engine_.Put(variables_[v], fields.values[v].data(), ::adios2::Mode::Deferred);
    }
    engine_.EndStep();
    static_cast<void>(step);
    if (sync == Sync::no) return;
    MPI_Barrier(fields.comm);
    if (fields.rank == 0) {
      for (const auto& file : std::filesystem::directory_iterator(path_)) PlainFile(file.path(), O_WRONLY).sync();
    }
    MPI_Barrier(fields.comm);
  }
  void close() override {
    if (engine_) engine_.Close();
  }
  [[nodiscard]] bool appends() const override { return true; }

 private:
  void open(const Fields& fields) {
    adios_.emplace(fields.comm);
    ::adios2::IO group = adios_->DeclareIO("fields");
    group.SetEngine("BP5");
    if (files_ > 0) group.SetParameter("NumAggregators", std::to_string(files_));
    ::adios2::Dims all, start, count;
    for (int a = 2; a >= 0; --a) {
      all.push_back(static_cast<std::size_t>(fields.grid[a]));
      start.push_back(static_cast<std::size_t>(fields.box.lo[a]));
      count.push_back(static_cast<std::size_t>(fields.box.extent(a)));
    }
    for (const std::string& name : fields.names) {
      variables_.push_back(group.DefineVariable<double>(name, all, start, count, ::adios2::ConstantDims));
    }
    engine_ = group.Open(path_, ::adios2::Mode::Write);
  }

  std::string path_;
  int files_;
  std::optional<::adios2::ADIOS> adios_;
  ::adios2::Engine engine_;
  std::vector<::adios2::Variable<double>> variables_;
};

}  // namespace

void add_adios2(const Options&, std::vector<MethodKind>& all) {
  all.push_back({"adios2-bp5", "ADIOS2, engine BP5, A files", [](const Options& options, const std::string& folder) {
                   return std::make_unique<Adios2>(options, folder);
                 }});
}

}  // namespace io
