#include "methods.hpp"

namespace io {

std::vector<MethodKind> other_methods(const Options& options) {
  std::vector<MethodKind> all{raw_method(), posix_method(), aggregate_method(), mpi_io_method(), hdf5_each_method()};
  add_hdf5_together(options, all);
  add_netcdf(options, all);
  add_adios2(options, all);
  add_adios1(options, all);
  return all;
}

}  // namespace io
