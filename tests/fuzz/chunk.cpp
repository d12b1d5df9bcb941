#include <cstring>

#include "storage/codecs/pipeline.hpp"
#include "targets.hpp"

namespace sidestream::fuzz {

/// The names of codecs, as in a configuration.
std::vector<std::string> names_of_codecs() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : built_in_codecs()) {
    names.push_back(kind.argument.empty() ? name : name + (kind.argument == "BITS" ? ":10" : ":1e-3"));
  }
  return names;
}

/// The first two bytes choose codecs and type, the next two the number of bytes of values.
void run_chunk(BytesView input) {
  if (input.size() < 4) return;
  static const std::vector<std::string> names = names_of_codecs();
  const auto choice = static_cast<unsigned>(input[0]), type = static_cast<unsigned>(input[1]);
  std::uint16_t elements = 0;
  std::memcpy(&elements, input.data() + 2, sizeof elements);
  std::vector<std::string> list{names[choice % names.size()]};
  if (choice / 16 > 0) list.push_back(names[choice / 16 % names.size()]);
  if (type / 16 > 0) list.push_back(names[type / 16 % names.size()]);
  refused_or_read([&] {
    const auto of = static_cast<Type>(type % 16 % type_count);
    const Pipeline pipeline(list, of, built_in_codecs());
    Bytes raw(elements % 4096 * size_of(of));
    refused_or_read([&] { pipeline.decode(input.subspan(4), raw); });
    // These bytes must come back after encoding, if the codecs lose nothing.
    const BytesView values = input.subspan(4, (input.size() - 4) / size_of(of) * size_of(of));
    Bytes packed, back(values.size());
    const ChunkPlace place{choice, {choice % 7, 1 + type % 5, 100}, 1 + choice % 3};
    if (!pipeline.encode(values, packed, place)) return;
    pipeline.decode(packed, back);
    const bool same = std::equal(back.begin(), back.end(), values.begin());
    if (pipeline.lossless() && !same) throw std::logic_error("a codec without loss has lost something");
  });
}

}  // namespace sidestream::fuzz
