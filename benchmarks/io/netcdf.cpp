// NetCDF-4, one file, written by all ranks together.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include "plain_file.hpp"

namespace io {

namespace {

void check_netcdf(int code, const char* what) {
  if (code != NC_NOERR) throw Error(std::string("NetCDF cannot ") + what + ": " + nc_strerror(code));
}

class NetCdf final : public Method {
 public:
  NetCdf(const Options& options, std::string folder) : folder_(std::move(folder)), hints_(options) {}

  void write(const Fields& fields, int step, Sync sync) override {
    const std::string path = step_file(folder_, step, 0, "nc");
    int file = -1;
    check_netcdf(nc_create_par(path.c_str(), NC_NETCDF4 | NC_CLOBBER, fields.comm, hints_.get(), &file), "create");
    const std::vector<int> variables = define(fields, file);
    std::size_t start[3], count[3];
    for (int a = 0; a < 3; ++a) {
      start[a] = static_cast<std::size_t>(fields.box.lo[2 - a]);
      count[a] = static_cast<std::size_t>(fields.box.extent(2 - a));
    }
    for (std::size_t v = 0; v < variables.size(); ++v) {
      check_netcdf(nc_var_par_access(file, variables[v], NC_COLLECTIVE), "be collective");
      check_netcdf(nc_put_vara_double(file, variables[v], start, count, fields.values[v].data()), "write");
    }
    check_netcdf(nc_close(file), "close");
    if (sync == Sync::no) return;
    if (fields.rank == 0) PlainFile(path, O_WRONLY).sync();
    MPI_Barrier(fields.comm);
  }

 private:
  static std::vector<int> define(const Fields& fields, int file) {
    int axes[3];
    const char* names[3] = {"z", "y", "x"};
    for (int a = 0; a < 3; ++a) {
      check_netcdf(nc_def_dim(file, names[a], static_cast<std::size_t>(fields.grid[2 - a]), &axes[a]),
                   "define an axis");
    }
    std::vector<int> variables;
    for (const std::string& name : fields.names) {
      check_netcdf(nc_def_var(file, name.c_str(), NC_DOUBLE, 3, axes, &variables.emplace_back()), "define a variable");
      check_netcdf(nc_def_var_fill(file, variables.back(), NC_NOFILL, nullptr), "leave out fill values");
    }
    check_netcdf(nc_enddef(file), "end definitions");
    return variables;
  }

  std::string folder_;
  Hints hints_;
};

}  // namespace

void add_netcdf(const Options&, std::vector<MethodKind>& all) {
  all.push_back(
      {"netcdf", "NetCDF-4 parallel, collective, one file",
       [](const Options& options, const std::string& folder) { return std::make_unique<NetCdf>(options, folder); }});
}

}  // namespace io
