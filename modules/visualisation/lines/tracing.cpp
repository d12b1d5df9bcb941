// Traces lines along the direction of a vector field with the classical method of Runge and Kutta, of fourth order, in
// steps of equal arc length.
//
// 1. Each server finds the waiting lines whose place lies in one of its cells.
// 2. Collective: the server with the finest cell at a place continues the line; a line in no cell has ended.
// 3. Each server continues its lines, all of them together, until each ends or leaves its blocks.
// 4. Collective: lines that left wait again, and step 1 follows.
//
// A line moves on with its state, also in the middle of a step. Values at a place depend on global indices only, and a
// server takes only places in cells that no finer cell covers, so that lines are the same for every division. Cells of
// curvilinear and unstructured meshes contain their faces, so a place may be in several. If some may be elsewhere, the
// line begins anew there, and the server with the cell of least rank continues it.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "visualisation/lines/lines.hpp"
#include "visualisation/mesh/plane.hpp"
#include "visualisation/mesh/sample_points.hpp"
#include "visualisation/sampling/cell_finder.hpp"

namespace sidestream::streamlines {
namespace {

using rendering::add;
using rendering::dot;
using rendering::scale;

/// A line on its way in one direction.
struct Tracer {
  std::int64_t line = 0, number = 0;
  std::int32_t sign = 1, stage = 0;  ///< the stage of the step whose slope is wanted, 0 to 3
  Place at{};                        ///< the last point
  std::array<Place, 3> slopes{};     ///< of earlier stages

  [[nodiscard]] auto order() const noexcept { return std::tuple(line, -sign); }

  /// The place of the stage.
  [[nodiscard]] Place place(double step) const noexcept {
    if (stage == 0) return at;
    const double distance = sign * (stage == 3 ? step : 0.5 * step);
    return add(at, scale(slopes[static_cast<std::size_t>(stage - 1)], distance));
  }
  /// Takes the slope of the stage. False where the line comes to an end: slopes within a step are opposite, or a new
  /// one is to the last, as where lines meet. It would not get any further.
  [[nodiscard]] bool take(const Place& slope, double step) noexcept {
    if (stage == 0 && number != 0 && dot(slope, slopes[0]) < 0) return false;
    if (stage < 3) {
      slopes[static_cast<std::size_t>(stage++)] = slope;
      return true;
    }
    const Place inner = add(slopes[1], slopes[2]);
    const Place mean = scale(add(add(slopes[0], slope), scale(inner, 2)), 1.0 / 6);
    if (dot(mean, mean) < 0.25) return false;
    at = add(at, scale(mean, sign * step));
    number += sign;
    stage = 0;
    return true;
  }
};

/// A line that a server may continue.
struct Claim {
  std::int64_t waiting = 0;  ///< its number among the waiting lines
  sampling::Rank rank;
};

/// Values at the places of some lines.
struct Sampled {
  std::vector<std::optional<sampling::Rank>> ranks;  ///< nothing where there is no cell
  std::vector<double> values;
  std::vector<bool> shared;  ///< another server may have a cell there, too
};

/// The direction of a vector; nothing if it has none.
std::optional<Place> direction_of(std::span<const double> vector) {
  double most = 0;
  for (const double component : vector) {
    if (!std::isfinite(component)) return std::nullopt;
    most = std::max(most, std::abs(component));
  }
  if (!(most > 0)) return std::nullopt;
  Place scaled{};
  double square = 0;
  for (std::size_t a = 0; a < vector.size(); ++a) {
    scaled[a] = vector[a] / most;
    square += scaled[a] * scaled[a];
  }
  const double length = std::sqrt(square);
  for (double& component : scaled) component /= length;
  return scaled;
}

class Tracing {
 public:
  Tracing(const Query& query, const LocalInput& input, Communicator& servers)
      : query_(query),
        input_(input),
        servers_(servers),
        count_(sampling::value_count(query.values, input.metadata)),
        most_steps_(static_cast<double>(query.steps) * query.step <= query.length
                        ? query.steps
                        : static_cast<std::int64_t>(query.length / query.step)) {}

  [[nodiscard]] Lines run() {
    make_finder();
    std::vector<Tracer> waiting;
    for (std::size_t n = 0; n < query_.seeds.size(); ++n) {
      for (const int sign : {1, -1}) {
        if (sign > 0 ? query_.forwards : query_.backwards)
          waiting.push_back({static_cast<std::int64_t>(n), 0, sign, 0, query_.seeds[n]});
      }
    }
    while (!waiting.empty()) {
      std::vector<Tracer> left;
      follow(mine_of(waiting), left);
      waiting = gather_left(left);
    }
    return gathered();
  }

 private:
  /// Collective. Throws Error(analysis) on all servers if the cells of one cannot be read.
  void make_finder() {
    const Mesh& mesh = input_.metadata.mesh_of(
        input_.metadata.variables.at(static_cast<std::size_t>(query_.values.variables.front())));
    if (mesh.axes() != nullptr || mesh.kind() == MeshKind::octree) return;
    std::string failure;
    try {
      finder_.emplace(query_.values, input_);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    for (const Bytes& received : servers_.all_gather(std::as_bytes(std::span(failure)))) {
      if (received.empty()) continue;
      fail(Code::analysis, "{}", std::string_view(reinterpret_cast<const char*>(received.data()), received.size()));
    }
    std::int64_t unknown = finder_->unknown();
    servers_.sum({&unknown, 1});
    found_.unknown = unknown;
  }

  [[nodiscard]] Sampled sample(std::span<const Tracer> tracers) {
    Sampled found{std::vector<std::optional<sampling::Rank>>(tracers.size()),
                  std::vector<double>(tracers.size() * count_), std::vector<bool>(tracers.size())};
    if (finder_) {
      for (std::size_t n = 0; n < tracers.size(); ++n) {
        const auto values = std::span(found.values).subspan(n * count_, count_);
        const auto cell = finder_->at(tracers[n].place(query_.step), values);
        if (!cell) continue;
        found.ranks[n] = cell->rank;
        found.shared[n] = cell->shared && servers_.size() > 1;
      }
      return found;
    }
    std::vector<Place> places;
    for (const Tracer& tracer : tracers) places.push_back(tracer.place(query_.step));
    const sampling::ScatteredPoints targets(query_.dimensions, std::move(places));
    sampling::sample(query_.values, targets, input_,
                     [&](std::int64_t target, const sampling::Rank& rank, std::span<const double> values) {
                       auto& known = found.ranks[static_cast<std::size_t>(target)];
                       if (known && !(rank < *known)) return;
                       known = rank;
                       std::copy(values.begin(), values.end(),
                                 found.values.begin() + target * static_cast<std::ptrdiff_t>(count_));
                     });
    return found;
  }

  /// Collective: the waiting lines that this server continues.
  [[nodiscard]] std::vector<Tracer> mine_of(const std::vector<Tracer>& waiting) {
    const Sampled found = sample(waiting);
    std::vector<Claim> claims;
    for (std::size_t n = 0; n < waiting.size(); ++n) {
      if (found.ranks[n]) claims.push_back({static_cast<std::int64_t>(n), *found.ranks[n]});
    }
    std::vector<int> owners(waiting.size(), -1);
    std::vector<sampling::Rank> ranks(waiting.size());
    const std::vector<Bytes> all = servers_.all_gather(bytes_of(claims));
    for (std::size_t server = 0; server < all.size(); ++server) {
      for (const Claim& claim : records_of<Claim>(all[server])) {
        const auto n = static_cast<std::size_t>(claim.waiting);
        if (owners.at(n) >= 0 && !(claim.rank < ranks[n])) continue;
        owners[n] = static_cast<int>(server);
        ranks[n] = claim.rank;
      }
    }
    std::vector<Tracer> mine;
    for (std::size_t n = 0; n < waiting.size(); ++n) {
      if (owners[n] == servers_.rank()) mine.push_back(waiting[n]);
    }
    return mine;
  }

  /// Continues lines until they end or leave this server's blocks. It has the cells that contain them now.
  void follow(std::vector<Tracer> mine, std::vector<Tracer>& left) {
    for (bool is_first = true; !mine.empty(); is_first = false) {
      const Sampled found = sample(mine);
      std::vector<Tracer> next;
      for (std::size_t n = 0; n < mine.size(); ++n) {
        Tracer& tracer = mine[n];
        if (!found.ranks[n] || (found.shared[n] && !is_first)) {
          left.push_back(tracer);
          continue;
        }
        const std::span<const double> values = std::span(found.values).subspan(n * count_, count_);
        if (tracer.stage == 0) record(tracer, values);
        const auto direction = direction_of(values.first(static_cast<std::size_t>(query_.dimensions)));
        if (!direction || (tracer.stage == 0 && std::abs(tracer.number) >= most_steps_)) continue;
        if (tracer.take(*direction, query_.step)) next.push_back(tracer);
      }
      mine = std::move(next);
    }
  }

  void record(const Tracer& tracer, std::span<const double> values) {
    // The seed belongs to both directions.
    if (tracer.number == 0 && tracer.sign < 0 && query_.forwards) return;
    found_.vertices.push_back({tracer.line, tracer.number, tracer.at});
    found_.values.insert(found_.values.end(), values.begin(), values.end());
  }

  /// Collective: the lines that have left any server's blocks.
  [[nodiscard]] std::vector<Tracer> gather_left(const std::vector<Tracer>& left) {
    std::vector<Tracer> all;
    for (const Bytes& bytes : servers_.all_gather(bytes_of(left))) {
      const std::vector<Tracer> received = records_of<Tracer>(bytes);
      all.insert(all.end(), received.begin(), received.end());
    }
    std::sort(all.begin(), all.end(), [](const Tracer& a, const Tracer& b) { return a.order() < b.order(); });
    return all;
  }

  /// Collective: all points on rank 0.
  [[nodiscard]] Lines gathered() {
    ByteWriter mine;
    mine.put(found_.vertices);
    mine.put(found_.values);
    Lines all;
    for (const Bytes& bytes : servers_.gather(mine.bytes(), 0)) {
      ByteReader in(bytes);
      std::vector<Vertex> vertices;
      std::vector<double> values;
      in.get(vertices);
      in.get(values);
      all.vertices.insert(all.vertices.end(), vertices.begin(), vertices.end());
      all.values.insert(all.values.end(), values.begin(), values.end());
    }
    return servers_.rank() == 0 ? ordered(all) : Lines();
  }

  [[nodiscard]] Lines ordered(const Lines& all) const {
    std::vector<std::size_t> order(all.vertices.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(all.vertices[a].line, all.vertices[a].number) <
             std::tuple(all.vertices[b].line, all.vertices[b].number);
    });
    Lines lines;
    std::int64_t begun = 0;
    for (const std::size_t n : order) {
      const auto values = std::span(all.values).subspan(n * count_, count_);
      lines.vertices.push_back(all.vertices[n]);
      lines.values.insert(lines.values.end(), values.begin(), values.end());
      begun += all.vertices[n].number == 0 ? 1 : 0;
    }
    lines.outside = static_cast<std::int64_t>(query_.seeds.size()) - begun;
    lines.unknown = found_.unknown;
    return lines;
  }

  const Query& query_;
  const LocalInput& input_;
  Communicator& servers_;
  std::size_t count_;
  std::int64_t most_steps_;
  std::optional<sampling::CellFinder> finder_;  ///< for curvilinear and unstructured meshes
  Lines found_;                                 ///< points on this server
};

}  // namespace

Lines trace(const Query& query, const LocalInput& input, Communicator& servers) {
  return Tracing(query, input, servers).run();
}

std::vector<std::array<std::int64_t, 2>> segments_of(const Lines& lines) {
  std::vector<std::array<std::int64_t, 2>> segments;
  for (std::size_t n = 1; n < lines.vertices.size(); ++n) {
    const Vertex &before = lines.vertices[n - 1], &here = lines.vertices[n];
    if (before.line == here.line && before.number + 1 == here.number) {
      segments.push_back({static_cast<std::int64_t>(n) - 1, static_cast<std::int64_t>(n)});
    }
  }
  return segments;
}

}  // namespace sidestream::streamlines
