#include "commands.hpp"

#include "sidestream/kit/base/fail.hpp"
#include "storage/files/steering_mailbox.hpp"

namespace sidestream {

SetAnswer set_parameter(const SetOptions& options) {
  if (options.name.empty()) return {steered_parameters(options.directory), 0};
  if (options.value.empty()) {
    fail(Code::usage,
         "set: '{}' has no value; write 'sidestream set {} VALUE', or no name for a list of the parameters",
         options.name, options.name);
  }
  const std::string sentence = ask_to_steer(options.directory, options.name, options.value, options.wait);
  return {sentence + "\n", sentence.compare(0, 9, "accepted:") == 0 ? 0 : 1};
}

}  // namespace sidestream
