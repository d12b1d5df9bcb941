// Two meshes with known fields, and functions to run a writer on them as a session would.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "sidestream/extend/writer.hpp"
#include "storage/files/output_directory.hpp"
#include "support/fake_domain.hpp"

namespace sidestream::testing {

/// A directory that only this test uses, the same on all members of `communicator`. It is removed at the end.
class SharedDirectory {
 public:
  explicit SharedDirectory(Communicator& communicator) : communicator_(communicator) {
    Bytes name;
    if (communicator.rank() == 0) {
      std::string text = (std::filesystem::temp_directory_path() / "sidestream-test-XXXXXX").string();
      if (mkdtemp(text.data()) == nullptr) throw Error(Code::system, "no temporary directory");
      const auto* first = reinterpret_cast<const std::byte*>(text.data());
      name.assign(first, first + text.size());
    }
    communicator.broadcast(name, 0);
    path_.assign(reinterpret_cast<const char*>(name.data()), name.size());
  }
  ~SharedDirectory() {
    communicator_.barrier();
    std::error_code ignored;
    if (communicator_.rank() == 0) std::filesystem::remove_all(path_, ignored);
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  Communicator& communicator_;
  std::string path_;
};

/// Names of the files under `path`, relative to it, sorted.
inline std::vector<std::string> files_under(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(path).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A uniform and a rectilinear mesh whose values depend on the position: i + 100 j + 10000 k + c + step, and on the
/// second mesh i + 10 j + 50 k + step.
struct Sample {
  Sample() : box(make_box()), stretched(make_stretched()) {
    box.metadata.variables[0].group = "state";
    box.metadata.variables[0].unit = "K";
    metadata = box.metadata;
    metadata.meshes[0].name = "box";
    metadata.meshes.push_back(stretched.metadata.meshes[0]);
    metadata.meshes[1].id = 1;
    metadata.meshes[1].name = "stretched";
    for (Variable variable : stretched.metadata.variables) {
      variable.id = static_cast<std::int32_t>(metadata.variables.size());
      variable.mesh = 1;
      metadata.variables.push_back(variable);
    }
    box_blocks = random_division(box.mesh().cells, 7, 1);
    // This block has no cells, and writers must skip it.
    box_blocks.push_back({{2, -1, 3}, {2, -1, 3}});
    stretched_blocks = random_division(stretched.mesh().cells, 4, 2);
  }

  /// The blocks that member `rank` of `size` holds.
  struct Held {
    FakeServer box, stretched;
    std::vector<std::vector<BlockView>> views;
  };
  [[nodiscard]] Held held(int rank, int size, const Selection& selection, int ghosts,
                          const std::vector<std::size_t>& absent = {}) const {
    const auto first = static_cast<std::int32_t>(box.metadata.variables.size());
    Selection of_box, of_stretched;
    for (const Selected& s : selection.variables) {
      if (s.variable < first) of_box.variables.push_back(s);
      if (s.variable >= first) of_stretched.variables.push_back({s.variable - first, s.halo});
    }
    Held held{{box, box_blocks, dealt(box_blocks.size(), rank, size), of_box, ghosts, absent},
              {stretched, stretched_blocks, dealt(stretched_blocks.size(), rank, size), of_stretched, ghosts, {}},
              {}};
    held.views = held.box.views();
    for (std::size_t v = 0; shared_nodes_agree && v < held.views.size(); ++v) {
      for (const BlockView& view : held.views[v]) fill(view, box, v);
    }
    for (std::size_t v = 0; v < held.stretched.views().size(); ++v) {
      auto views = held.stretched.views()[v];
      for (BlockView& view : views) {
        view.block.mesh = 1;
        if (shared_nodes_agree) fill(view, stretched, v);
      }
      held.views.push_back(std::move(views));
    }
    return held;
  }

  int step = 0;
  /// True if blocks of the box hold right values at nodes that another block owns, as in simulations. Otherwise they
  /// hold values there that must not be used.
  bool shared_nodes_agree = false;
  FakeDomain box, stretched;
  Metadata metadata;
  Division box_blocks, stretched_blocks;

 private:
  static std::vector<std::size_t> dealt(std::size_t count, int rank, int size) {
    std::vector<std::size_t> mine;
    for (std::size_t n = 0; n < count; ++n) {
      if (static_cast<int>(n) % size == rank) mine.push_back(n);
    }
    return mine;
  }
  /// Overwrites the values at all points of a block.
  static void fill(const BlockView& view, const FakeDomain& domain, std::size_t v) {
    const Box& p = view.points;
    with_type(view.array.type, [&](auto zero) {
      using T = decltype(zero);
      for (Index k = p.lo[2]; k < p.hi[2]; ++k) {
        for (Index j = p.lo[1]; j < p.hi[1]; ++j) {
          for (Index i = p.lo[0]; i < p.hi[0]; ++i) {
            for (int c = 0; c < view.array.components; ++c) {
              *const_cast<T*>(view.array.at<T>(i, j, k, c)) = static_cast<T>(domain.value(v, {i, j, k}, c));
            }
          }
        }
      }
    });
  }
  FakeDomain make_box() {
    const auto place = [this](const std::array<double, 3>&, const Index3& p, int c) {
      return static_cast<double>(p[0] + 100 * p[1] + 10000 * p[2] + c + step);
    };
    return FakeDomain({{2, -1, 3}, {15, 6, 8}},
                      std::make_shared<UniformGeometry>(std::array{0.5, -1.0, 2.0}, std::array{0.1, 0.25, 0.5}),
                      {{"temperature", place, Centering::cell, 1, Type::float64, Order::column},
                       {"velocity", place, Centering::cell, 3, Type::float32, Order::column},
                       {"marker", place, Centering::node, 1, Type::int32, Order::column},
                       {"flux", place, Centering::node, 2, Type::float64, Order::row}});
  }
  FakeDomain make_stretched() {
    const auto place = [this](const std::array<double, 3>&, const Index3& p, int) {
      return static_cast<double>(p[0] + 10 * p[1] + 50 * p[2] + step);
    };
    return FakeDomain(
        {{0, 0, 0}, {6, 4, 3}},
        std::make_shared<RectilinearGeometry>(
            Index3{0, 0, 0}, std::array<std::vector<double>, 3>{std::vector<double>{0, 1, 2, 4, 8, 16, 32},
                                                                std::vector<double>{-1, 0, 2, 3, 9},
                                                                std::vector<double>{0, 0.5, 2, 2.25}}),
        {{"density", place, Centering::cell, 1, Type::uint8, Order::row},
         {"level", place, Centering::node, 1, Type::int16, Order::column}});
  }
};

/// The settings that `yaml` gives for a writer.
inline Settings writer_settings(const WriterKind& kind, const std::string& yaml, const Metadata& metadata) {
  const Parameters none;
  const Node node = parse_node(yaml, "test.yaml");
  return read_settings(node, kind.options, "the output '" + kind.name + "'", node.where,
                       {ExpressionContext{none}, &metadata});
}

/// The input of the writer on this member.
inline LocalInput input_of(const Sample& sample, const Sample::Held& held, const Iteration& iteration,
                           const Communicator& communicator) {
  LocalInput input{iteration, sample.metadata, held.views, 0, {}};
  input.server = communicator.rank();
  input.servers = communicator.size();
  return input;
}

/// Writes one iteration on all members. Throws what the writer throws.
inline void write_iteration(Task& writer, const Sample& sample, const Iteration& iteration, Communicator& communicator,
                            int ghosts = 0, const std::vector<std::size_t>& absent = {}) {
  const auto held = sample.held(communicator.rank(), communicator.size(), writer.selection(), ghosts, absent);
  LocalInput local = input_of(sample, held, iteration, communicator);
  CapturedResults results;
  Bytes feedback;
  for (local.pass = 0; local.pass < writer.passes(); ++local.pass) {
    const Bytes before = std::move(feedback);
    local.feedback = before;
    const std::vector<Bytes> partials{writer.local(local)};
    feedback = writer.combine({iteration, sample.metadata, partials, local.pass, communicator, results, &local});
  }
}

}  // namespace sidestream::testing
