// Files of RAMSES, record by record: byte orders, records in parts, damage at every byte, names and texts.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "importers/ramses/domain_tree.hpp"
#include "importers/ramses/particles.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::ramses;
using namespace sidestream::testing;

namespace {

/// Little-endian records as Fortran writes them.
struct Records {
  template <class T>
  void put(const std::vector<T>& values) {
    const auto length = static_cast<std::int32_t>(values.size() * sizeof(T));
    mark(length);
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    mark(length);
  }
  void mark(std::int32_t value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void whole(std::initializer_list<std::int32_t> values) { put(std::vector<std::int32_t>(values)); }
  void real(std::size_t count, double value) { put(std::vector<double>(count, value)); }
  std::string text;
};

/// A binary tree: a coarse cell with two children, the second of which has two children. The domain owns all.
std::string small_amr() {
  Records file;
  for (const std::int32_t one : {1, 1}) file.whole({one});  // ncpu, ndim
  file.whole({1, 1, 1});
  for (const std::int32_t one : {3, 100, 0, 2}) file.whole({one});  // nlevelmax, ngridmax, nboundary, ngrid_current
  file.real(1, 1);
  file.whole({1, 1, 1});
  for (const std::size_t count : {1, 1, 1, 3, 3}) file.real(count, 0.5);
  file.whole({3, 2});
  for (const std::size_t count : {3, 7, 5, 1}) file.real(count, 1);
  for (int n = 0; n < 3; ++n) file.whole({1, 1, 0});  // headl, taill, numbl
  file.put(std::vector<std::int32_t>(30, 0));
  file.whole({1, 2, 3, 4, 5});
  file.put(std::vector<char>(128, ' '));
  file.real(2, 0);
  for (int n = 0; n < 3; ++n) file.whole({1});  // son, flag1, cpu_map
  for (const double middle : {0.5, 0.75}) {
    for (int n = 0; n < 3; ++n) file.whole({1});
    file.real(1, middle);
    for (int n = 0; n < 1 + 2 + 6; ++n) file.whole({0});
  }
  return file.text;
}

/// The tree's densities: 1 and 2, then 3 and 4.
std::string small_hydro() {
  Records file;
  for (const std::int32_t one : {1, 1, 1, 3, 0}) file.whole({one});
  file.real(1, 1.4);
  double value = 1;
  for (const std::int32_t level : {1, 2, 3}) {
    file.whole({level});
    file.whole({level < 3 ? 1 : 0});
    for (int n = 0; level < 3 && n < 2; ++n) file.real(1, value++);
  }
  return file.text;
}

constexpr const char* info_text =
    "ncpu = 1\nndim = 1\nlevelmin = 1\nlevelmax = 3\nnstep_coarse = 2\n\nboxlen = 0.2E+01\ntime = 0.5E+00\n"
    "unit_l = 0.3E+01\nunit_d = 0.2E+01\nunit_t = 0.5E+01\n\nordering type=hilbert   \n"
    "   DOMAIN   ind_min   ind_max\n       1  0.0E+00  0.8E+01\n";

struct Fixture {
  Fixture() {
    put("info_00003.txt", info_text);
    put("amr_00003.out00001", small_amr());
    put("hydro_00003.out00001", small_hydro());
  }
  void put(const std::string& name, const std::string& text) const { write_file(scratch.path + "/" + name, text); }
  /// Densities of the tree's cells. Throws what reading throws.
  [[nodiscard]] std::vector<double> densities() const {
    const Output output(scratch.path);
    const Box coarse = inner_coarse_cells(output);
    const DomainTree tree = read_tree(output, 1, coarse);
    const CellColumns columns = cell_columns(output, FileKind::hydro);
    const auto arrays = read_cell_values(output, columns, 1, tree);
    std::vector<double> values(arrays.front().size() / sizeof(double));
    std::memcpy(values.data(), arrays.front().data(), values.size() * sizeof(double));
    return values;
  }
  Scratch scratch;
};

std::vector<std::string> names_of(const std::vector<ramses::Column>& columns) {
  std::vector<std::string> names;
  for (const JoinedColumns& joined : join_columns(columns)) names.push_back(joined.name);
  return names;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a tree and its values, the root with the mean of its children") {
  const Output output(scratch.path);
  CHECK(output.number() == 3);
  CHECK(output.info().boxlen == 2);
  const DomainTree tree = read_tree(output, 1, inner_coarse_cells(output));
  CHECK(tree.refined == std::vector<std::uint8_t>{1, 0, 1, 0, 0});
  CHECK(tree.owned == std::vector<std::uint8_t>(5, 1));
  CHECK(tree.first == std::vector<Index>{0, 1, 3, 5});
  CHECK(densities() == std::vector<double>{1.5, 1, 2, 3, 4});
}

TEST_CASE_FIXTURE(Fixture, "any byte that is another, and any end, is an error or another value") {
  const std::string files[] = {"amr_00003.out00001", "hydro_00003.out00001", "info_00003.txt"};
  const std::string texts[] = {small_amr(), small_hydro(), info_text};
  int refused = 0;
  for (int n = 0; n < 3; ++n) {
    for (std::size_t at = 0; at < texts[n].size(); ++at) {
      for (const char change : {'\x01', '\x80', '\xff'}) {
        std::string damaged = texts[n];
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        put(files[n], damaged);
        refused += message_of([&] { static_cast<void>(densities()); }) != "nothing was thrown" ? 1 : 0;
      }
      put(files[n], texts[n].substr(0, at));
      const std::string said = message_of([&] { static_cast<void>(densities()); });
      CHECK(contains(said, files[n]));
    }
    put(files[n], texts[n]);
  }
  CHECK(refused > 1000);
  CHECK(densities().size() == 5);
}

TEST_CASE_FIXTURE(Fixture, "octs between cells, beyond the box, or nowhere") {
  std::string text = small_amr();
  const auto with_middle = [&](double old, double made) {
    std::string other = text;
    for (std::size_t at = 0; at + 8 <= other.size(); ++at) {
      if (std::memcmp(other.data() + at, &old, 8) == 0) std::memcpy(other.data() + at, &made, 8);
    }
    put("amr_00003.out00001", other);
    return message_of([&] { static_cast<void>(densities()); });
  };
  CHECK(contains(with_middle(0.75, 0.65), "found 0.65, which is not the middle of an oct of level 2"));
  CHECK(contains(with_middle(0.75, 1.25), "is not the middle of an oct"));
  CHECK(contains(with_middle(0.75, NAN), "is not the middle of an oct"));
  CHECK(with_middle(0.75, 0.25) == "nothing was thrown");
}

TEST_CASE("records in parts, as gfortran writes those beyond 2 GiB, and of both byte orders") {
  const Scratch scratch;
  Records file;
  file.whole({7});
  file.mark(-8);  // another part follows
  file.text += "01234567";
  file.mark(8);
  file.mark(-4);
  file.text += "89ab";
  file.mark(-4);  // one went before
  file.mark(4);
  file.text += "cdef";
  file.mark(-4);
  file.whole({9});
  write_file(scratch.path + "/parts", file.text);
  FortranFile parts(scratch.path + "/parts");
  CHECK(parts.integer("first") == 7);
  CHECK(parts.next_size() == 16);
  const BytesView bytes = parts.read("parts", 1);
  CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == "0123456789abcdef");
  CHECK(parts.integer("last") == 9);
  CHECK(parts.at_end());
  CHECK(contains(message_of([&] { parts.skip(); }), "record 4 (passed over): the file ends at byte"));

  Records big;
  big.text = std::string("\0\0\0\4\0\0\0\5\0\0\0\4", 12) + std::string("\0\0\0\x08\x3f\xf8\0\0\0\0\0\0\0\0\0\x08", 16);
  write_file(scratch.path + "/big", big.text);
  FortranFile other(scratch.path + "/big");
  CHECK(other.integer("five") == 5);
  CHECK(other.reals("real", 1).front() == 1.5);
  write_file(scratch.path + "/none", "something else");
  CHECK(contains(message_of([&] { FortranFile wrong(scratch.path + "/none"); }),
                 "does not begin with a record of four bytes"));
}

TEST_CASE("descriptors of both forms, and names") {
  const auto now =
      parse_descriptor("# version:  1\n# ivar, variable_name, variable_type\n 1, density, d\n 2, family, b\n");
  REQUIRE(now.size() == 2);
  CHECK(now[0].name == "density");
  CHECK(now[1].type == 'b');
  const auto before = parse_descriptor("nvar        =  2\nvariable #  1: density\nvariable #  2: velocity_x\n");
  REQUIRE(before.size() == 2);
  CHECK(before[1].name == "velocity_x");
  CHECK(parse_descriptor("nonsense\n1,2\n,,\n").empty());

  using Names = std::vector<std::string>;
  CHECK(names_of({{"v_x", 'd'}, {"v_y", 'd'}, {"v_z", 'd'}, {"p", 'd'}}) == Names{"v", "p"});
  CHECK(names_of({{"v_x", 'd'}, {"v_y", 'f'}}) == Names{"v_x", "v_y"});
  CHECK(names_of({{"v", 'd'}, {"v_x", 'd'}, {"v_y", 'd'}}) == Names{"v", "v_x", "v_y"});
  CHECK(names_of({{"B_x_left", 'd'}, {"B_y_left", 'd'}, {"B_z_left", 'd'}}) ==
        Names{"B_x_left", "B_y_left", "B_z_left"});
  CHECK(names_of({{"a b/c", 'd'}, {"a_b_c", 'd'}, {"", 'd'}}) == Names{"a_b_c", "a_b_c_02", "unnamed"});
  CHECK(hydro_columns(2, 6).back().name == "scalar_02");
  CHECK(gravity_columns(3, 3).front().name == "acceleration_x");
  CHECK(gravity_columns(3, 4).front().name == "potential");
}
