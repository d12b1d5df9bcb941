// A sample of particles that does not depend on how they are divided.
//
// A particle is drawn if a hash of its number, or of its position, is below a limit. So samples of different sizes from
// the same seed contain each other. With `maximum` the limit is found by a radix search over all servers (limit_for),
// and servers share the sample by ranges of hashes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cosmology/kinds.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream {

namespace {

/// One particle: a hash, an identity, and numbers. All particles have equally many numbers.
class DrawnPoint {
 public:
  explicit DrawnPoint(std::span<const std::uint64_t> words) : words_(words) {}
  [[nodiscard]] std::uint64_t hash() const noexcept { return words_[0]; }
  [[nodiscard]] std::int64_t id() const noexcept { return static_cast<std::int64_t>(words_[1]); }
  [[nodiscard]] double number(std::size_t n) const noexcept {
    double value = 0;
    std::memcpy(&value, &words_[2 + n], sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return words_; }
  /// A total order; only particles that are equal in all bits are equivalent.
  [[nodiscard]] bool operator<(const DrawnPoint& other) const noexcept {
    if (hash() != other.hash()) return hash() < other.hash();
    if (id() != other.id()) return id() < other.id();
    return std::memcmp(words_.data() + 2, other.words_.data() + 2, (words_.size() - 2) * sizeof(std::uint64_t)) < 0;
  }

 private:
  std::span<const std::uint64_t> words_;
};

class DrawnPoints {
 public:
  /// `numbers` is the count per particle.
  explicit DrawnPoints(std::size_t numbers) : width_(2 + numbers) {}

  [[nodiscard]] std::size_t size() const noexcept { return words_.size() / width_; }
  [[nodiscard]] DrawnPoint operator[](std::size_t n) const noexcept {
    return DrawnPoint(std::span(words_).subspan(n * width_, width_));
  }
  void add(const DrawnPoint& point) { words_.insert(words_.end(), point.words().begin(), point.words().end()); }
  /// Begins a particle. A call of `add_number` for each of its numbers must follow.
  void begin(std::uint64_t hash, std::int64_t id) {
    words_.push_back(hash);
    words_.push_back(static_cast<std::uint64_t>(id));
  }
  void add_number(double number) { std::memcpy(&words_.emplace_back(), &number, sizeof number); }
  void reserve(std::size_t points) { words_.reserve(points * width_); }

  /// Keeps the `most` least particles, in any order.
  void keep_least(std::size_t most) {
    if (size() <= most) return;
    std::vector<std::uint32_t> order = numbers();
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(), Before{this});
    order.resize(most);
    std::sort(order.begin(), order.end());
    for (std::size_t n = 0; n < most; ++n) {
      std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(order[n] * width_), width_,
                  words_.begin() + static_cast<std::ptrdiff_t>(n * width_));
    }
    words_.resize(most * width_);
  }
  /// The numbers of the particles, least particle first.
  [[nodiscard]] std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> order = numbers();
    std::sort(order.begin(), order.end(), Before{this});
    return order;
  }
  [[nodiscard]] BytesView bytes() const noexcept { return std::as_bytes(std::span(words_)); }
  /// Calls f(point) for each particle in serialised bytes.
  template <class F>
  static void for_each(BytesView bytes, std::size_t numbers, F&& f) {
    std::vector<std::uint64_t> words(2 + numbers);
    const std::size_t each = words.size() * sizeof(std::uint64_t);
    if (bytes.size() % each != 0) fail(Code::internal, "{} bytes of particles of {} each", bytes.size(), each);
    for (; !bytes.empty(); bytes = bytes.subspan(each)) {
      std::memcpy(words.data(), bytes.data(), each);
      f(DrawnPoint(words));
    }
  }

 private:
  struct Before {
    const DrawnPoints* points;
    bool operator()(std::uint32_t a, std::uint32_t b) const noexcept { return (*points)[a] < (*points)[b]; }
  };
  [[nodiscard]] std::vector<std::uint32_t> numbers() const {
    if (size() > UINT32_MAX)
      fail(Code::analysis, "a sample of {} particles on one server, expected at most 2^32", size());
    std::vector<std::uint32_t> numbers(size());
    for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = static_cast<std::uint32_t>(n);
    return numbers;
  }

  std::size_t width_;
  std::vector<std::uint64_t> words_;
};

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

struct SubsampleQuery {
  std::string mesh{}, file{};
  std::vector<Variable> variables{};
  std::optional<double> fraction{};
  std::int64_t maximum = -1;  ///< largest number of particles; -1: any
  std::int64_t seed = 0;
  Pieces pieces = Pieces::automatic;
  std::int32_t coordinates = -1, ids = -1;  ///< -1: no numbers
  int dimensions = 3;
  std::uint64_t limit = no_limit;  ///< hashes up to it are drawn
};

/// Collective: returns the greatest limit up to which all servers together have at most `maximum` particles; nothing if
/// even the smallest hash has too many. Searches digit by digit with counts only, so that no server needs all hashes.
/// `each` calls a function with the hash of each particle on this server.
template <class Each>
std::optional<std::uint64_t> limit_for(Each&& each, std::int64_t maximum, Communicator& servers) {
  std::uint64_t prefix = 0;
  std::int64_t left = maximum;
  for (int shift = 56; shift >= 0; shift -= 8) {
    std::vector<std::int64_t> counts(256, 0);
    each([&](std::uint64_t hash) {
      const bool known = shift == 56 || hash >> (shift + 8) == prefix >> (shift + 8);
      if (known) ++counts[hash >> shift & 255];
    });
    servers.sum(counts);
    std::uint64_t digit = 0;
    while (digit < 256 && counts[digit] <= left) left -= counts[digit++];
    if (digit == 256) return no_limit;  // only in the first round: all particles fit
    prefix |= digit << shift;
  }
  if (prefix == 0) return std::nullopt;
  return prefix - 1;  // particles with the hash `prefix` would be too many, so none of them is taken
}

class Subsample final : public Task {
 public:
  explicit Subsample(SubsampleQuery query)
      : query_(std::move(query)), seed_(mixed_bits(static_cast<std::uint64_t>(query_.seed))) {
    for (const Variable& variable : query_.variables) {
      arrays_.push_back({variable.name, variable.components});
      numbers_ += static_cast<std::size_t>(variable.components);
    }
  }

  Selection selection() const override {
    Selection selection{{{query_.coordinates, 0}}};
    if (query_.ids >= 0) selection.variables.push_back({query_.ids, 0});
    for (const Variable& variable : query_.variables) selection.variables.push_back({variable.id, 0});
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    DrawnPoints drawn(numbers_);
    for (const BlockView& view : input.of(query_.coordinates)) draw(view, input, drawn);
    keep_least(drawn);
    return {drawn.bytes().begin(), drawn.bytes().end()};
  }

  Bytes combine(const CombineInput& input) override {
    Communicator& servers = input.communicator;
    std::optional<std::uint64_t> limit = query_.limit;
    if (query_.maximum >= 0) {
      const auto each = [&](auto&& f) {
        for (const Bytes& partial : input.partials) {
          DrawnPoints::for_each(partial, numbers_, [&](const DrawnPoint& point) { f(point.hash()); });
        }
      };
      limit = limit_for(each, query_.maximum, servers);
    }
    const DrawnPoints mine = shared(input.partials, limit, servers);
    if (query_.file.ends_with(".csv")) {
      input.results.add_parts(query_.file, table(mine), servers, query_.pieces);
    } else {
      input.results.add_parts(query_.file, points(mine), servers, query_.pieces);
    }
    return {};
  }

 private:
  struct ArrayName {
    std::string name;
    int components;
  };

  void draw(const BlockView& view, const LocalInput& input, DrawnPoints& drawn) const {
    const BlockView* ids = query_.ids >= 0 ? input.find(query_.ids, view.block.id) : nullptr;
    if (query_.ids >= 0 && !ids) return;  // not delivered
    std::vector<const BlockView*> values;
    for (const Variable& variable : query_.variables) values.push_back(input.find(variable.id, view.block.id));
    for_each_counted(view, [&](Index i) {
      std::array<double, 3> place{};
      for (int c = 0; c < query_.dimensions; ++c) place[static_cast<std::size_t>(c)] = real_at(view, i, c);
      const std::int64_t id = ids ? whole_at(*ids, i) : 0;
      const std::uint64_t hash = ids ? mixed_bits(seed_ ^ mixed_bits(static_cast<std::uint64_t>(id))) : hash_of(place);
      if (hash > query_.limit) return;
      drawn.begin(hash, id);
      for (const double x : place) drawn.add_number(x);
      for (std::size_t v = 0; v < values.size(); ++v) {
        for (int c = 0; c < arrays_[v].components; ++c) {
          drawn.add_number(values[v] ? real_at(*values[v], i, c) : std::numeric_limits<double>::quiet_NaN());
        }
      }
      // Called regularly, so that at most twice the sample is held.
      if (query_.maximum >= 0 && drawn.size() > 2 * static_cast<std::size_t>(query_.maximum) + 1024) keep_least(drawn);
    });
  }

  static std::int64_t whole_at(const BlockView& view, Index i) {
    return with_type(view.array.type,
                     [&](auto zero) { return static_cast<std::int64_t>(*view.array.at<decltype(zero)>(i, 0, 0)); });
  }

  [[nodiscard]] std::uint64_t hash_of(const std::array<double, 3>& place) const {
    std::uint64_t hash = seed_;
    // both zeros hash alike
    for (const double x : place) hash = mixed_bits(hash ^ std::bit_cast<std::uint64_t>(x + 0.0));
    return hash;
  }

  /// Drops particles that cannot be in the sample. Keeps one more than the sample's size, which shows whether the last
  /// hash fits.
  void keep_least(DrawnPoints& drawn) const {
    if (query_.maximum >= 0) drawn.keep_least(static_cast<std::size_t>(query_.maximum) + 1);
  }

  /// The particles up to the limit, divided among servers by ranges of hashes.
  [[nodiscard]] DrawnPoints shared(std::span<const Bytes> partials, std::optional<std::uint64_t> limit,
                                   Communicator& servers) const {
    const auto count = static_cast<std::size_t>(servers.size()), me = static_cast<std::size_t>(servers.rank());
    const std::uint64_t each = std::max<std::uint64_t>(1, limit.value_or(0) / count);
    std::vector<DrawnPoints> to(count, DrawnPoints(numbers_));
    for (const Bytes& partial : partials) {
      DrawnPoints::for_each(partial, numbers_, [&](const DrawnPoint& point) {
        if (limit && point.hash() <= *limit) to[std::min<std::size_t>(count - 1, point.hash() / each)].add(point);
      });
    }
    DrawnPoints all = std::move(to[me]);  // not sent
    to[me] = DrawnPoints(numbers_);
    std::vector<Bytes> bytes;
    for (DrawnPoints& points : to) {
      bytes.emplace_back(points.bytes().begin(), points.bytes().end());
      points = DrawnPoints(numbers_);
    }
    for (const Bytes& from : servers.all_to_all(bytes)) {
      DrawnPoints::for_each(from, numbers_, [&](const DrawnPoint& point) { all.add(point); });
    }
    return all;
  }

  [[nodiscard]] Table table(const DrawnPoints& drawn) const {
    const std::vector<std::uint32_t> order = drawn.in_order();
    std::vector<Column> columns;
    if (query_.ids >= 0) {
      std::vector<std::int64_t> ids;
      for (const std::uint32_t n : order) ids.push_back(drawn[n].id());
      columns.push_back({"point_id", std::move(ids)});
    }
    std::size_t at = 0;
    const auto add = [&](std::string name) {
      const auto taken = [&](const Column& column) { return column.name == name; };
      while (std::any_of(columns.begin(), columns.end(), taken)) name += "_";
      std::vector<double> values;
      values.reserve(order.size());
      for (const std::uint32_t n : order) values.push_back(drawn[n].number(at));
      columns.push_back({name, std::move(values)});
      ++at;
    };
    for (int a = 0; a < query_.dimensions; ++a) add(std::string(1, "xyz"[a]));
    at = 3;
    for (const ArrayName& array : arrays_) {
      for (int c = 0; c < array.components; ++c)
        add(array.components == 1 ? array.name : fmt::format("{}_{}", array.name, c));
    }
    return Table(std::move(columns));
  }

  [[nodiscard]] Surface points(const DrawnPoints& drawn) const {
    const std::vector<std::uint32_t> order = drawn.in_order();
    Surface surface;
    surface.points.reserve(order.size());
    for (const std::uint32_t n : order) {
      surface.points.push_back({drawn[n].number(0), drawn[n].number(1), drawn[n].number(2)});
    }
    if (query_.ids >= 0) {
      surface.point_data.push_back({"point_ids", 1, {}});
      for (const std::uint32_t n : order) {
        surface.point_data.back().values.push_back(static_cast<double>(drawn[n].id()));
      }
    }
    std::size_t at = 3;
    for (const ArrayName& array : arrays_) {
      surface.point_data.push_back({array.name, array.components, {}});
      std::vector<double>& values = surface.point_data.back().values;
      values.reserve(order.size() * static_cast<std::size_t>(array.components));
      for (const std::uint32_t n : order) {
        for (int c = 0; c < array.components; ++c) values.push_back(drawn[n].number(at + static_cast<std::size_t>(c)));
      }
      at += static_cast<std::size_t>(array.components);
    }
    return surface;
  }

  SubsampleQuery query_;
  std::uint64_t seed_;
  std::vector<ArrayName> arrays_;
  std::size_t numbers_ = 3;
};

OptionTable<SubsampleQuery> subsample_options() {
  using Query = SubsampleQuery;
  return {
      option<OptionType::mesh>("mesh", &Query::mesh, "The particles: a mesh of type `points`.", {.required = true}),
      option("variables", &Query::variables,
             "Variables that the sample has for each particle besides its position and number, with all components."),
      option("fraction", &Query::fraction,
             "The fraction of the particles to draw, above 0 and up to 1. Each particle is drawn or not "
             "independently, so the number is approximate."),
      option("maximum", &Query::maximum,
             "Instead of `fraction`: the largest number of particles; all are drawn if there are no more.",
             {.minimum = 0, .maximum = std::int64_t{1} << 40}),
      option("seed", &Query::seed, "Seed of the hash; another seed draws other particles.", {.standard = 0}),
      file_option(&Query::file, "sample-{index:05}.vtp",
                  "The points, or, if it ends in `.csv`, a table, whose rows are appended unless the name tells "
                  "iterations apart.",
                  {".csv"}),
      pieces_option(&Query::pieces)};
}

void read_amount(const OptionTable<SubsampleQuery>& options, const Settings& settings, SubsampleQuery& query) {
  const std::string neither_or_both =
      "a sample has a `fraction` of the particles or a `maximum` of them; give one of the two";
  if (query.maximum >= 0 && query.fraction) options.fail(settings, &SubsampleQuery::maximum, neither_or_both);
  if (query.maximum >= 0) return;
  if (!query.fraction) options.fail(settings, &SubsampleQuery::fraction, neither_or_both);
  const double fraction = *query.fraction;
  if (!(fraction > 0 && fraction <= 1)) {
    options.fail(settings, &SubsampleQuery::fraction,
                 fmt::format("found the fraction {}, expected one above 0 and up to 1", fraction));
  }
  if (fraction < 1) query.limit = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
}

SubsampleQuery read_subsample(const Settings& settings, const Metadata& metadata) {
  const OptionTable<SubsampleQuery> options = subsample_options();
  const Mesh& mesh = read_particles(settings, metadata);
  SubsampleQuery query = options.read(settings, metadata);
  query.coordinates = mesh.array(Role::coordinates);
  query.ids = mesh.array(Role::point_ids);
  query.dimensions = mesh.dimensions;
  read_amount(options, settings, query);
  for (auto variable = query.variables.begin(); variable != query.variables.end(); ++variable) {
    const bool twice =
        std::any_of(query.variables.begin(), variable, [&](const Variable& other) { return other.id == variable->id; });
    if (variable->mesh == mesh.id && variable->role == Role::none && !twice) continue;
    options.fail(settings, &SubsampleQuery::variables,
                 fmt::format("'{}' {}; name variables on '{}', each once", variable->name,
                             twice                          ? "is named twice"
                             : variable->role != Role::none ? "describes its mesh and comes by itself"
                                                            : "lies on another mesh",
                             mesh.name));
  }
  return query;
}

/// The names of the arrays are those of the points' form of the result.
ResultMesh sampled_mesh(const Settings& settings, const Metadata& metadata) {
  ResultMesh made = result_lists(MeshKind::points);
  made.mesh.dimensions = metadata.find_mesh(settings.text("mesh"))->dimensions;
  for (const std::string& name : settings.texts("variables")) {
    made.variables.push_back(result_variable(*metadata.find_variable(name), Centering::cell));
  }
  return made;
}

}  // namespace

AnalysisKind subsample_kind() {
  return {
      .name = "subsample",
      .text =
          "A sample of the particles of a mesh of type `points`, the same whatever the number of servers and however "
          "particles are divided: it depends on a hash of a particle's `point_ids`, or, without them, of the bits of "
          "its coordinates. So with `fraction` a numbered particle that is drawn in one iteration is drawn in all, "
          "and its track can be followed. Flagged ghosts are not drawn. The order of the points is that of the "
          "hashes. With `maximum`, particles without numbers at the same position are all left out if they would "
          "exceed it.",
      .options = subsample_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Subsample>(read_subsample(settings, metadata));
      },
      .result_mesh = sampled_mesh};
}

}  // namespace sidestream
