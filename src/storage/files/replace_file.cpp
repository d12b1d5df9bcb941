#include "storage/files/replace_file.hpp"

#include <filesystem>

#include "storage/files/output.hpp"
#include "storage/files/output_file.hpp"

namespace sidestream {

void replace_file(const OutputDirectory& directory, const std::string& path,
                  const std::function<void(const std::string& temporary)>& put) {
  try {
    put(directory.temporary(path));
    directory.commit(path);
  } catch (...) {
    directory.discard(path);
    throw;
  }
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.close();
}

void replace_file(const OutputDirectory& directory, const std::string& path, std::string_view text) {
  replace_file(directory, path, [&](const std::string& temporary) { write_file(temporary, text); });
}

void replace_file(const std::string& path, std::string_view text) {
  const std::filesystem::path whole(path);
  const auto directory = open_output_directory(whole.parent_path().string(), {}, GoesOnWith::nothing, false);
  replace_file(*directory, path, text);
}

}  // namespace sidestream
