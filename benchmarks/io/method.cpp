#include "method.hpp"

#include <fmt/format.h>

namespace io {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(fmt::format("{}: {}", call, std::string_view(text, static_cast<std::size_t>(length))));
}

std::string step_file(const std::string& folder, int step, int rank, const char* ending) {
  return fmt::format("{}/step-{:04}-{:05}.{}", folder, step, rank, ending);
}

Hints::Hints(const Options& options) {
  MPI_Info_create(&info_);
  const auto set = [&](const std::string& key, const std::string& value) {
    MPI_Info_set(info_, key.c_str(), value.c_str());
  };
  if (options.stripes > 0) set("striping_factor", std::to_string(options.stripes));
  if (options.stripe_size > 0) set("striping_unit", std::to_string(options.stripe_size));
  for (const std::string& hint : options.hints) {
    const std::size_t equals = hint.find('=');
    if (equals == std::string::npos) throw Error("found the hint '" + hint + "', expected KEY=VALUE");
    set(hint.substr(0, equals), hint.substr(equals + 1));
  }
}

Hints::~Hints() {
  if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
}

}  // namespace io
