// The fields of writer.c by HDF5's C++ interface, from one process without MPI: a file for each step.
#include <H5Cpp.h>

#include <string>
#include <vector>

namespace {

void write(H5::H5File& file, const char* name, const std::vector<hsize_t>& size, const std::vector<double>& values) {
  const H5::DataSpace space(static_cast<int>(size.size()), size.data());
  file.createDataSet(name, H5::PredType::NATIVE_DOUBLE, space).write(values.data(), H5::PredType::NATIVE_DOUBLE);
}

void write_step(int step) {
  const std::string number = std::to_string(10000 + 10 * step).substr(1);
  H5::H5File file("plot_" + number + ".h5", H5F_ACC_TRUNC);
  std::vector<double> temperature, velocity;
  for (int k = 0; k < 6; ++k) {
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 12; ++i) {
        for (int c = 0; c < 3; ++c) {
          velocity.push_back(0.5 * i - 0.25 * j + 0.125 * k + 10.0 * step + 100.0 * c + 0.0625 * i * j);
        }
        temperature.push_back(velocity[velocity.size() - 3]);
      }
    }
  }
  write(file, "time", {1}, {0.25 * step});
  write(file, "temperature", {6, 5, 12}, temperature);
  write(file, "velocity", {6, 5, 12, 3}, velocity);
}

}  // namespace

int main() {
  for (int step = 0; step < 3; ++step) write_step(step);
}
