// Prints what C++ finds in databases, for a test that compares this with other readers. It reads a directory from each
// line of standard input. A line of the answer has the slots of whole contexts, of damaged ones, and the number of
// slots passed over, or `refused`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <string>
#include <vector>

#include "sidestream/error.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace {

using namespace sidestream;

std::string answer(const std::string& directory) {
  std::vector<std::uint64_t> whole, damaged;
  const database::Journal journal = database::read_journal(directory);
  for (const database::Entry& entry : journal.contexts) {
    std::vector<std::string> damages;
    try {
      database::Context context(directory, entry);
      damages = database::verify(context);
    } catch (const Error& error) {
      damages.emplace_back(error.what());
    }
    (damages.empty() ? whole : damaged).push_back(entry.slot);
  }
  return fmt::format("whole [{}] damaged [{}] passed over {}", fmt::join(whole, ", "), fmt::join(damaged, ", "),
                     journal.remarks.size());
}

}  // namespace

int main() {
  for (std::string directory; std::getline(std::cin, directory);) {
    try {
      std::cout << answer(directory) << std::endl;
    } catch (const Error& error) {
      std::cout << "refused: " << error.what() << std::endl;
    }
  }
  return 0;
}
