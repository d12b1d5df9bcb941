// A codec in a shared library of its own: stores the bits of each element that differ from those of the last one.
//
// In a configuration:
//   plugins: [./libdelta.so]
//   outputs:
//     - database: {kind: post, codecs: {temperature: "delta:1 byte-shuffle zstd"}}
//
// `delta:4` compares with the fourth element before, for variables of four components. Readers need the plug-in, too;
// those without a configuration find it in the environment variable SIDESTREAM_CODEC_PLUGINS.
#include <algorithm>
#include <charconv>
#include <sidestream/extend/plugin.hpp>

namespace {

using namespace sidestream;

class Delta final : public Codec {
 public:
  explicit Delta(std::size_t apart) : apart_(apart) {}
  std::string name() const override { return "delta"; }

  bool encode(BytesView in, Type type, Bytes& out) const override {
    const std::size_t back = apart_ * size_of(type);
    out.assign(in.begin(), in.end());
    for (std::size_t n = back; n < in.size(); ++n) out[n] = in[n] ^ in[n - back];
    return true;
  }

  void decode(BytesView in, Type type, std::span<std::byte> out) const override {
    const std::size_t back = apart_ * size_of(type);
    std::copy(in.begin(), in.end(), out.begin());
    for (std::size_t n = back; n < out.size(); ++n) out[n] ^= out[n - back];
  }

 private:
  std::size_t apart_;
};

std::shared_ptr<const Codec> make(const std::string& argument) {
  std::size_t apart = 0;
  const char* const end = argument.data() + argument.size();
  const auto [stop, error] = std::from_chars(argument.data(), end, apart);
  if (error != std::errc() || stop != end || apart < 1 || apart > 1024) {
    throw Error(Code::configuration, "found 'delta:" + argument +
                                         "', expected a whole number from 1 to 1024 behind the "
                                         "colon: how many elements lie between two that are alike");
  }
  return std::make_shared<Delta>(apart);
}

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  registry.add(CodecKind{.name = "delta",
                         .text = "The bits of each element that differ from those of the one N before.",
                         .argument = "N",
                         .create = make});
}
