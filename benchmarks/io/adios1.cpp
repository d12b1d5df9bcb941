// ADIOS 1 with the methods of the 2013 study: POSIX, MPI, MPI_AGGREGATE, and MPI_LUSTRE on Lustre.
#include <adios.h>
#include <adios_error.h>
#include <fmt/format.h>

#include <sys/vfs.h>

#include <filesystem>

#include "plain_file.hpp"

namespace io {

namespace {

namespace fs = std::filesystem;

void check_adios(int code, const char* call) {
  if (code != 0) throw Error(fmt::format("{}: {}", call, adios_get_last_errmsg()));
}

/// Initialises ADIOS 1, which is global, once.
void begin_once(MPI_Comm comm) {
  static const int begun = adios_init_noxml(comm);
  check_adios(begun, "adios_init_noxml");
}

class Adios1 final : public Method {
 public:
  Adios1(const Options& options, std::string folder, std::string transport)
      : folder_(std::move(folder)), transport_(std::move(transport)), options_(options) {}

  void write(const Fields& fields, int step, Sync sync) override {
    if (group_ == 0) declare(fields);
    const std::string path = fmt::format("{}/step-{:04}.bp", folder_, step);
    std::int64_t file = 0;
    check_adios(adios_open(&file, transport_.c_str(), path.c_str(), "w", fields.comm), "adios_open");
    for (std::size_t v = 0; v < fields.values.size(); ++v) {
      check_adios(adios_write_byid(file, variables_[v], fields.values[v].data()), "adios_write");
    }
    check_adios(adios_close(file), "adios_close");
    if (sync == Sync::no) return;
    MPI_Barrier(fields.comm);
    if (fields.rank == 0) flush();
    MPI_Barrier(fields.comm);
  }

 private:
  void declare(const Fields& fields) {
    begin_once(fields.comm);
    check_adios(adios_declare_group(&group_, transport_.c_str(), "", adios_stat_no), "adios_declare_group");
    std::string parameters;
    if (transport_ == "MPI_AGGREGATE") {
      parameters = fmt::format("num_aggregators={0};num_ost={0}", std::max(1, options_.files));
    }
    check_adios(adios_select_method(group_, transport_.c_str(), parameters.c_str(), ""), "adios_select_method");
    const auto text = [](std::int64_t a, std::int64_t b, std::int64_t c) { return fmt::format("{},{},{}", a, b, c); };
    const Box& box = fields.box;
    for (const std::string& name : fields.names) {
      variables_.push_back(adios_define_var(
          group_, name.c_str(), "", adios_double, text(box.extent(2), box.extent(1), box.extent(0)).c_str(),
          text(fields.grid[2], fields.grid[1], fields.grid[0]).c_str(), text(box.lo[2], box.lo[1], box.lo[0]).c_str()));
    }
    std::uint64_t bytes = 1 << 20;
    for (const auto& values : fields.values) bytes += fields.bytes_here(values);
    // Includes indices, and memory that ADIOS takes in advance.
    adios_set_max_buffer_size(2 * (bytes >> 20) + 16);
  }

  void flush() const {
    for (const auto& file : fs::recursive_directory_iterator(folder_)) {
      if (file.is_regular_file()) PlainFile(file.path(), O_WRONLY).sync();
    }
  }

  std::string folder_, transport_;
  Options options_;
  std::int64_t group_ = 0;
  std::vector<std::int64_t> variables_;
};

bool is_on_lustre(const std::string& directory) {
  constexpr long lustre = 0x0bd00bd0;
  struct statfs facts {};
  return ::statfs(directory.c_str(), &facts) == 0 && static_cast<long>(facts.f_type) == lustre;
}

MethodKind kind(const char* name, const char* transport) {
  return {name, fmt::format("ADIOS 1, method {}", transport),
          [transport](const Options& options, const std::string& folder) {
            return std::make_unique<Adios1>(options, folder, transport);
          }};
}

}  // namespace

void add_adios1(const Options& options, std::vector<MethodKind>& all) {
  all.push_back(kind("adios1-posix", "POSIX"));
  all.push_back(kind("adios1-mpi", "MPI"));
  all.push_back(kind("adios1-aggregate", "MPI_AGGREGATE"));
  all.push_back(kind("adios1-lustre", "MPI_LUSTRE"));
  if (!is_on_lustre(options.directory)) all.back().missing = "the results are not on a Lustre file system";
}

}  // namespace io
