// `sidestream translate` turns configurations of Damaris and SENSEI into ones that `sidestream check` accepts. It lists
// the lines without a counterpart.
#include <doctest/doctest.h>

#include <string>

#include "config/tool_folder.hpp"

using sidestream::testing::contains;
using sidestream::testing::contents;
using sidestream::testing::Outcome;
using sidestream::testing::ToolFolder;

namespace {

struct Folder : ToolFolder {
  Folder() : ToolFolder("translate_files") {}
};

/// The translation of a text, and the answer of `check` to it with these options.
struct Translated {
  Outcome made, checked;
};

Translated translated(const std::string& system, const std::string& text, const std::string& options) {
  const Folder folder;
  folder.file(text, "config.xml");
  Translated all;
  all.made = folder.run("translate " + system + " config.xml");
  folder.file(all.made.out, "run.yaml");
  all.checked = folder.run("check run.yaml " + options);
  return all;
}

/// A document of Damaris with these contents of `data`.
std::string damaris(const std::string& data, const std::string& after = "", const std::string& language = "c") {
  return "<simulation name='s' language='" + language +
         "'>\n<architecture><dedicated cores='1'/></architecture>\n<data>\n" + data + "</data>\n" + after +
         "</simulation>\n";
}

}  // namespace

TEST_CASE("the second listing of the paper on Damaris") {
  const Translated t =
      translated("damaris", contents(SIDESTREAM_LISTING), "--mesh mesh3d=3x3x3 --function my_function");
  CAPTURE(t.made.err);
  CHECK(t.made.status == 0);
  CHECK(contains(t.made.out, "placement: {mode: cores, per_node: 1, buffer: 67108864}"));
  CHECK(contains(t.made.out, "parameters: {d: 4, h: 4, w: 4}"));
  CHECK(contains(t.made.out, "'temperature': {mesh: mesh3d, type: float64, centering: node}"));
  CHECK(contains(t.made.out, "- my_function: {on: my_event}"));
  CHECK(contains(t.made.out, "plugins: ['my_plugin.so']"));
  for (const char* said :
       {"config.xml:27: 'coordinates/x3d' has the nodes of a block along x", "config.xml:31: 'coordinates/z3d'",
        "config.xml:35: 'temperature' has as many values as nodes", "config.xml:38: <event>: the action runs once"}) {
    CHECK(contains(t.made.err, said));
  }
}

TEST_CASE("meshes, variables and stores of Damaris") {
  const Translated t = translated("damaris",
                                  damaris("<parameter name='W' type='int' value='16'/>\n"
                                          "<parameter name='size' type='int' value='4'/>\n"
                                          "<layout name='cells' type='int' dimensions='W/size,8,4' global='4,8,W'/>\n"
                                          "<layout name='nodes' type='double' dimensions='W+1,9'/>\n"
                                          "<layout name='many' type='double' dimensions='W'/>\n"
                                          "<mesh name='plate' type='curvilinear' topology='2'>\n"
                                          "<coord name='x'/><coord name='y'/></mesh>\n"
                                          "<mesh name='dust' type='point' topology='3'><coord name='p'/></mesh>\n"
                                          "<mesh name='hull' type='unstructured' topology='3'><coord name='q'/>\n"
                                          "<vertex_global_id name='ids'/><section_types name='st'/></mesh>\n"
                                          "<mesh name='skin' type='unstructured' topology='2'><coord name='q2' "
                                          "unit='m' label='a'/></mesh><variable name='q2' layout='many'/>\n"
                                          "<variable name='on_skin' layout='many' mesh='skin' store='gone'/>\n"
                                          "<variable name='x' layout='nodes'/><variable name='y' layout='nodes'/>\n"
                                          "<variable name='p' layout='many'/><variable name='q' layout='many'/>\n"
                                          "<variable name='cube' layout='cells' store='disk' unit='m'/>\n"
                                          "<group name='flow'><variable name='v' layout='nodes' mesh='plate' "
                                          "centering='nodal' time-varying='false'/></group>\n"
                                          "<variable name='v' layout='many' mesh='dust'/>\n"
                                          "<variable name='lost' layout='many' mesh='gone'/>\n"
                                          "<variable name='off' layout='many' enabled='false'/>\n",
                                          "<storage><store name='disk' type='HDF5'><option key='FilesPath'>out</option>"
                                          "<option key='FileMode'>Collective</option></store></storage>\n"),
                                  "");
  CAPTURE(t.made.out);
  CAPTURE(t.made.err);
  CHECK(t.made.status == 0);
  CAPTURE(t.checked.err);
  CHECK(t.checked.status == 0);
  CHECK(
      contains(t.made.out, "plate: {type: curvilinear, size: [(9) - 1, ($W+1) - 1], coordinates: plate_coordinates}"));
  CHECK(contains(t.made.out, "plate_coordinates: {mesh: plate, type: float64, centering: node, components: 2}"));
  CHECK(contains(t.made.out, "dust: {type: points, coordinates: dust_coordinates, dimensions: 3}"));
  CHECK(contains(t.made.out,
                 "hull: {type: unstructured, coordinates: hull_coordinates, connectivity: hull_connectivity"));
  CHECK(contains(t.made.out, "point_ids: hull_ids"));
  CHECK(contains(t.made.out, "skin: {type: unstructured, coordinates: skin_coordinates, dimensions: 2, connectivity"));
  CHECK(contains(t.made.out, "types: skin_types, units: ['m'], labels: ['a']}"));
  CHECK(contains(t.made.err, "the store 'gone' of 'on_skin' is not there"));
  CHECK(contains(t.made.out, "of_cells: {type: uniform, size: [$W, 8, 4]}"));
  CHECK(contains(t.made.out, "'cube': {mesh: of_cells, type: int32, unit: 'm'}"));
  CHECK(contains(t.made.out, "'v': {mesh: plate, type: float64, centering: node, group: 'flow', time_varying: false}"));
  CHECK(contains(t.made.out, "file: 'out/disk-{cycle:06}.h5'"));
  CHECK(contains(t.made.err, "publish them by one call, publish_components"));
  CHECK(contains(t.made.out, "'v_': {mesh: dust"));
  CHECK(contains(t.made.err, "'v' is called 'v_': another variable has its name"));
  CHECK(contains(t.made.err, "'cube' lies on no mesh: a uniform one was made of its layout\n"));
  CHECK(contains(t.made.err, "'lost' lies on the mesh 'gone', which is not declared"));
  CHECK(contains(t.made.err, "FileMode"));
  CHECK(contains(t.made.err, "<variable> has no counterpart and was left out: it is not enabled"));
}

TEST_CASE("what has no counterpart is said with its lines, once for each text") {
  const Outcome made =
      translated(
          "damaris",
          damaris(
              "<parameter name='a' type='string' value='b'/>\n<layout name='l' type='label' dimensions='1'/>\n"
              "<mesh name='m' type='amr'/>\n<variable name='t' layout='l' mesh='m'/>\n<curve name='c'/>\n"
              "<parameter name='n' type='int' value='1' odd='1'/>\n<parameter name='k' type='int' value='1' odd='1'/>\n",
              "<visit><path>x</path></visit>\n<log FileName='f'/>\n<nonsense/>\n"),
          "")
          .made;
  CAPTURE(made.err);
  CHECK(made.status == 0);
  for (const char* said : {"config.xml:4: <parameter> has no counterpart and was left out: parameters are numbers",
                           "config.xml:5: <layout> has no counterpart", "config.xml:6: <mesh type=\"amr\">",
                           "config.xml:7: the variable 't' was", "config.xml:8: <curve> has no counterpart",
                           "<parameter odd=\"...\"> has no counterpart and was left out (lines 10 too)",
                           "<visit> has no counterpart", "<log> has no counterpart", "<nonsense> has no counterpart"}) {
    CHECK(contains(made.err, said));
  }
}

TEST_CASE("surfaces in space, words of coordinates, scripts, prefixes and expressions of Damaris") {
  const Translated t = translated(
      "damaris",
      "<dam:simulation name='s' language='c' xmlns:dam='http://damaris.gforge.inria.fr/damaris/model'>\n"
      "<dam:architecture><dam:dedicated cores='2' nodes='1'/>\n<dam:queue name='q' size='100'/></dam:architecture>\n"
      "<dam:data>\n<dam:parameter name='n' type='int' value='4'/><dam:parameter name='m' type='int' value='2*n+1'/>\n"
      "<dam:layout name='nodes' type='double' dimensions='m,n'/>\n"
      "<dam:layout name='flat' type='double' dimensions='m,n,1'/>\n"
      "<dam:layout name='bulk' type='double' dimensions='n,n,n' visualizable='false'/>\n"
      "<dam:mesh name='sheet' type='curvilinear' topology='2'>\n"
      "<dam:coord name='x' unit='cm' label='Width'/><dam:coord name='y' unit='cm' label='Depth'/>"
      "<dam:coord name='z' unit='cm'/></dam:mesh>\n"
      "<dam:mesh name='bent' type='curvilinear' topology='2'>\n<dam:coord name='bx'/><dam:coord name='by'/>"
      "<dam:coord name='bz'/></dam:mesh>\n"
      "<dam:variable name='bx' layout='flat'/><dam:variable name='by' layout='flat'/>"
      "<dam:variable name='bz' layout='flat'/>\n"
      "<dam:mesh name='odd' type='curvilinear' topology='3'>\n<dam:coord name='u'/><dam:coord name='v'/></dam:mesh>\n"
      "<dam:mesh name='plate' type='curvilinear' topology='2'>\n<dam:coord name='x' unit='m'/>"
      "<dam:coord name='y' unit='cm'/></dam:mesh>\n"
      "<dam:variable name='x' layout='nodes'/><dam:variable name='y' layout='nodes'/>"
      "<dam:variable name='z' layout='nodes'/><dam:variable name='u' layout='bulk'/><dam:variable name='v' layout='bulk'/>\n"
      "<dam:variable name='t' layout='nodes' mesh='sheet' centering='nodal'/>"
      "<dam:variable name='w' layout='bulk' mesh='odd'/>\n"
      "<dam:mesh name='wire' type='curvilinear' topology='1'>\n<dam:coord name='wx' unit='m'/><dam:coord name='wy'/>"
      "</dam:mesh><dam:layout name='line' type='double' dimensions='n'/>"
      "<dam:variable name='wx' layout='line'/><dam:variable name='wy' layout='line'/>\n"
      "<dam:variable name='p' layout='nodes' mesh='plate' centering='nodal'/>\n</dam:data>\n"
      "<dam:scripts><dam:pyscript name='look' file='look.py' language='python' frequency='2' nthreads='4'/>"
      "</dam:scripts>\n"
      "<dam:actions><dam:script name='stir' file='stir.py'/><dam:script name='r' file='r.r' language='r'/></dam:actions>\n"
      "</dam:simulation>\n",
      "");
  CAPTURE(t.made.out);
  CAPTURE(t.made.err);
  CHECK(t.made.status == 0);
  CAPTURE(t.checked.err);
  CHECK(t.checked.status == 0);
  CHECK(contains(t.made.out, "parameters: {m: 2*(4)+1, n: 4}"));
  CHECK(contains(t.made.out, "sheet: {type: curvilinear, size: [($n) - 1, ($m) - 1], coordinates: sheet_coordinates}"));
  CHECK(contains(t.made.out, "bent: {type: unstructured, coordinates: bent_coordinates"));
  CHECK(contains(t.made.out,
                 "sheet_coordinates: {mesh: sheet, type: float64, centering: node, components: 3, unit: 'cm', "
                 "label: 'Width, Depth, '}"));
  CHECK(contains(t.made.out,
                 "plate: {type: curvilinear, size: [($n) - 1, ($m) - 1], coordinates: plate_coordinates, units: ['m', "
                 "'cm']}"));
  CHECK(contains(t.made.out,
                 "  # - python: {name: look, script: 'look.py', call: FUNCTION, variables: [t, p], every: 2}"));
  CHECK(contains(t.made.out,
                 "  # - python: {name: stir, script: 'stir.py', call: FUNCTION, variables: [t, p], on: stir}"));
  for (const char* said :
       {"config.xml:2: <dedicated>: with both, the nodes are servers", "config.xml:3: <queue>: messages to servers",
        "<layout visualizable=\"false\">: nothing is shown that no analysis or output names",
        "'bent' has 2 axes and 3 coordinates: it became an unstructured mesh",
        "the mesh 'odd' was left out, with its variables", "the variable 'w' was left out: its mesh is not there",
        "the coordinates of 'wire' have units of their own (m, )",
        "<pyscript nthreads=\"...\"> has no counterpart and was left out",
        "<pyscript>: the analysis 'python' calls a function",
        "<script> has no counterpart and was left out: write it as an analysis"}) {
    CHECK(contains(t.made.err, said));
  }
  const std::string axes = translated("damaris", contents(SIDESTREAM_LISTING), "").made.err;
  CHECK(contains(axes, "of 'mesh3d': axes that the program gives by set_rectilinear_block have neither"));
  CHECK(contains(axes, "<variable visualizable=\"false\">"));
}

TEST_CASE("parameters of Damaris that double at each step are left out at a bounded length") {
  std::string parameters = "<parameter name='p0' type='int' value='1'/>\n";
  for (int n = 1; n < 60; ++n) {
    const std::string before = "p" + std::to_string(n - 1);
    parameters += "<parameter name='p" + std::to_string(n) + "' type='int' value='" + before + "+" + before + "'/>\n";
  }
  const Translated t = translated("damaris", damaris(parameters), "");
  CAPTURE(t.made.err);
  CHECK(t.made.out.size() < 100'000);
  CHECK(contains(t.made.out, "p3: "));
  CHECK(contains(t.made.err, "with the values of the parameters that it names, its own has"));
}

TEST_CASE("placements of Damaris") {
  const auto placement = [](const std::string& dedicated) {
    const Outcome made =
        translated("damaris",
                   "<simulation name='s'><architecture><dedicated " + dedicated + "/></architecture></simulation>", "")
            .made;
    CHECK(made.status == 0);
    return made.out.substr(made.out.find("placement"));
  };
  CHECK(placement("cores='2' nodes='0'") == "placement: {mode: cores, per_node: 2}\n");
  CHECK(placement("cores='0' nodes='3'") == "placement: {mode: nodes, whole_nodes: 3}\n");
  CHECK(placement("") == "placement: {mode: inline}\n");
}

TEST_CASE("analyses of SENSEI") {
  const Translated t = translated(
      "sensei",
      "<sensei>\n"
      "<analysis type='histogram' mesh='mesh' array='data' association='cell' bins='10' frequency='2'/>\n"
      "<analysis type='SliceExtract' operation='planar_slice'>\n"
      "<mesh name='mesh'><cell_arrays> data, more </cell_arrays></mesh>\n"
      "<point> 0.5 0.5 0.5 </point><normal> 0.8 -0.5 0.3 </normal><writer mode='paraview' output_dir='./slice'/>\n"
      "</analysis>\n"
      "<analysis type='SliceExtract' operation='iso_surface'>\n"
      "<iso_values mesh_name='mesh' array_name='data' array_centering='cell'>-0.25 1.25</iso_values></analysis>\n"
      "<analysis type='SliceExtract' operation='isosurface'>"
      "<iso_values mesh_name='mesh' array_name='data' array_centering='cell'>7</iso_values></analysis>"
      "<analysis type='SliceExtract' operation='clip'/>\n"
      "<analysis type='PosthocIO' output_dir='./' file_name='output' mode='visit'>\n"
      "<mesh name='mesh'><cell_arrays>data</cell_arrays></mesh></analysis>\n"
      "<analysis type='catalyst' pipeline='slice' mesh='mesh' array='data' association='cell' slice-normal='0,0,1' "
      "image-filename='s%ts.png' image-width='320' image-height='200' color-range='0,1'/>\n"
      "<analysis type='autocorrelation' array='data' window='10'/>\n"
      "<analysis type='libsim' enabled='0'/>\n"
      "<analysis type='something'/>\n"
      "</sensei>\n",
      "--mesh mesh=8x8x8");
  CAPTURE(t.made.out);
  CAPTURE(t.made.err);
  CHECK(t.made.status == 0);
  CAPTURE(t.checked.err);
  CHECK(t.checked.status == 0);
  CHECK(contains(t.made.out, "- histogram: {variable: data, bins: 10, every: 2}"));
  CHECK(contains(t.made.out,
                 "- slice: {variable: data, fields: [more], normal: [0.8, -0.5, 0.3], origin: [0.5, 0.5, 0.5], "
                 "file: 'slice/slice-{cycle:06}.vtp'}"));
  CHECK(contains(t.made.out, "- isosurface: {variable: data, values: [-0.25, 1.25]"));
  CHECK(contains(t.made.out, "- isosurface: {variable: data, values: [7], file: 'isosurface-2-{cycle:06}.vtp'}"));
  CHECK(contains(t.made.err, "operation=\"clip\"> has no counterpart"));
  CHECK(contains(t.made.out, "- vtk: {variables: [data], file: 'output-{cycle:06}.pvti'}"));
  CHECK(contains(t.made.out,
                 "- render: {slice: {variable: data, normal: [0, 0, 1], range: [0, 1]}, size: [320, 200], file: "
                 "'s{cycle:06}.png'}"));
  CHECK(contains(t.made.err, "config.xml:13: <analysis type=\"autocorrelation\"> has no counterpart"));
  CHECK(contains(t.made.err, "config.xml:14: <analysis type=\"libsim\"> is not enabled"));
  CHECK(contains(t.made.err, "config.xml:15: <analysis type=\"something\"> has no counterpart"));
}

TEST_CASE("analyses of SENSEI have files of their own") {
  std::string all;
  for (const char* values : {"1", "2", "3"}) {
    const std::string array = " mesh='mesh' array='data' association='cell' ";
    all += std::string("<analysis type='vtkmcontour' value='") + values + "'" + array + "/>\n";
    all += "<analysis type='histogram' file='counts'" + array + "/>\n";
    all += "<analysis type='histogram'" + array + "/>\n";
    all += "<analysis type='PosthocIO' file_name='isosurface'" + array + "/>\n";
    all += "<analysis type='SliceExtract'><mesh name='mesh'><cell_arrays>data</cell_arrays></mesh></analysis>\n";
    all += "<analysis type='catalyst' pipeline='slice' image-filename='s%ts.png'" + array + "/>\n";
    all += "<analysis type='catalyst' pipeline='slice' image-filename='last.png'" + array + "/>\n";
    all += "<analysis type='hdf5'/>\n";
  }
  const Translated t = translated("sensei", "<sensei>\n" + all + "</sensei>\n", "--mesh mesh=8x8x8");
  CAPTURE(t.made.out);
  CAPTURE(t.made.err);
  CAPTURE(t.checked.err);
  CHECK(t.made.status == 0);
  CHECK(t.checked.status == 0);
  for (const char* file :
       {"'isosurface-{cycle:06}.vtp'", "'isosurface-3-{cycle:06}.vtp'", "'isosurface-2-{cycle:06}.pvti'",
        "'counts-{cycle:06}.csv'", "'counts-3-{cycle:06}.csv'", "'slice-3-{cycle:06}.vtp'", "'s{cycle:06}.png'",
        "'s-3-{cycle:06}.png'", "'last.png'", "'last-3.png'", "'histogram-2.csv'", "'fields-3-{cycle:06}.h5'"}) {
    CAPTURE(file);
    CHECK(contains(t.made.out, std::string("file: ") + file));
  }
  // Names in the file were changed, and a message says so.
  CHECK(contains(t.made.err,
                 "config.xml:11: <analysis type=\"histogram\"> has files of the name that others have: "
                 "'counts-{cycle:06}.csv' became 'counts-2-{cycle:06}.csv'"));
  CHECK(contains(t.made.err, "'last.png' became 'last-2.png'"));
  CHECK(contains(t.made.out, "- histogram: {variable: data, bins: 10}\n"));
  CHECK(!contains(t.made.err, "'slice-"));
  CHECK(!contains(t.made.err, "'histogram"));
}

TEST_CASE("transports of SENSEI") {
  const Translated t = translated("sensei",
                                  "<sensei><transport type='adios2' filename='test.bp' engine='sst'>\n"
                                  "<partitioner type='planar' plane_size='2'/></transport></sensei>\n",
                                  "");
  CHECK(t.made.status == 0);
  CHECK(contains(t.made.out,
                 "placement: {mode: job, stream: {name: test.bp, engine: sst}, partitioner: {stripe: {width: 2}}}"));
  CHECK(t.made.err.empty());
}

TEST_CASE("wrong files and wrong words") {
  const Folder folder;
  const auto says = [&](const std::string& arguments, int status, const char* part) {
    CAPTURE(arguments);
    const Outcome outcome = folder.run("translate " + arguments);
    CHECK(outcome.status == status);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, part));
  };
  says("damaris nowhere.xml", 1, "does not exist");
  folder.file("<sensei></sensei>", "a.xml");
  says("damaris a.xml", 1, "found <sensei> as the outermost element, expected <simulation>");
  says("damaros a.xml", 2, "did you mean 'damaris'?");
  folder.file("<simulation>\n<oops</simulation>", "b.xml");
  says("damaris b.xml", 1, "no XML");
  folder.file("<simulation>\n<data><layout type='int' dimensions='1'/></data></simulation>", "c.xml");
  says("damaris c.xml", 1, "c.xml:2: found <layout> without 'name'");
  folder.file("", "d.xml");
  says("sensei d.xml", 1, "no XML");
  says("sensei", 2, "FILE");
  folder.file("<!-- nothing -->", "f.xml");
  says("damaris f.xml", 1, "found no element, expected <simulation>");
  std::string wide = "<!-- <a b='' -->\n<simulation\n>\n<data";
  for (int n = 0; n < 100'000; ++n) wide += " a" + std::to_string(n) + "='>'";
  folder.file(wide + "/></simulation>", "g.xml");
  says("damaris g.xml", 1, "g.xml:4: found an element of more than 1000 attributes");
  folder.file("<sensei/>", "e.xml");
  const Outcome written = folder.run("translate sensei e.xml --output out.yaml");
  CHECK(written.status == 0);
  CHECK(contains(contents(folder.path + "/out.yaml"), "# Made by"));
}
