// One HDF5 file per rank.
#include "hdf5_file.hpp"
#include "plain_file.hpp"

namespace io {

namespace {

class Hdf5Each final : public Method {
 public:
  Hdf5Each(const Options& options, std::string folder) : options_(options), folder_(std::move(folder)) {}

  void write(const Fields& fields, int step, Sync sync) override {
    const std::string path = step_file(folder_, step, fields.rank, "h5");
    const Id access = properties(H5P_FILE_ACCESS);
    check_hdf5(H5Pset_alignment(access.get(), options_.alignment, options_.alignment), "align");
    Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose, "create a file");
    const Extents part(fields.box);
    for (std::size_t v = 0; v < fields.values.size(); ++v) {
      const Id space(H5Screate_simple(3, part.size, nullptr), H5Sclose, "make a space");
      const Id data(H5Dcreate2(file.get(), fields.names[v].c_str(), H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT,
                               H5P_DEFAULT, H5P_DEFAULT),
                    H5Dclose, "create a data set");
      check_hdf5(H5Dwrite(data.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, fields.values[v].data()),
                 "write");
    }
    file.close();
    if (sync == Sync::yes) PlainFile(path, O_WRONLY).sync();
  }

 private:
  Options options_;
  std::string folder_;
};

}  // namespace

MethodKind hdf5_each_method() {
  return {"hdf5-each", "an HDF5 file per rank", [](const Options& options, const std::string& folder) {
            return std::make_unique<Hdf5Each>(options, folder);
          }};
}

}  // namespace io
