#!/usr/bin/env bash
# Uses the installed tree as an external project does: consume.sh
# minimal_c|cmake|pkg_config|fortran|plugin|partitioner|python_analysis|python_client|faulty_plugins|tool
#
# Environment: SOURCE (the repository, for the examples' sources), PREFIX (the installed tree), BUILD (the build tree),
# WORK (a folder for builds), LIBDIR, and the programs CMAKE, MPIRUN, PKG_CONFIG, MPICC, MPICXX, MPIFC, CC, CXX.
set -euo pipefail
work=$WORK/$1
rm -rf "$work"
mkdir -p "$work"
# The test must see only the installed tree, and nothing of the build.
unset LD_LIBRARY_PATH SIDESTREAM_CONFIG

# build_outside NAME copies an example out of the repository, and builds it against the installed package.
build_outside() {
  cp -r "$SOURCE/examples/$1" "$work/$1"
  "$CMAKE" -S "$work/$1" -B "$work/$1/build" -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
  "$CMAKE" --build "$work/$1/build"
}

# Copies the program that the test `minimal_c` has built.
take_minimal_c() {
  cp -r "$WORK/minimal_c/minimal_c" "$work/minimal_c"
  rm -rf "$work/minimal_c/results"
}

# run RANKS FOLDER PROGRAM runs a program in the folder of its configuration, where it writes results/.
run() { (cd "$2" && timeout 60 "$MPIRUN" -n "$1" "$3" run.yaml); }

# lines FILE COUNT checks that the file has that many lines, including the heading.
lines() {
  local found
  found=$(wc -l <"$1")
  [ "$found" -eq "$2" ] || { echo "$1 has $found lines, expected $2" >&2; exit 1; }
}

# True in `make test-all`. In `make test` one example of each kind is built outside; the tree builds all of them.
test_all() { [ "${SIDESTREAM_TEST_ALL:-}" = 1 ]; }

case $1 in
  minimal_c)
    build_outside minimal_c
    run 2 "$work/minimal_c" build/heat
    lines "$work/minimal_c/results/statistics.csv" 21
    # An analysis of a module that is installed next to the library.
    mkdir "$work/halos"
    sed 's/- statistics:.*/- halos: {variable: temperature, boundary: 0, halo: 0, file: halos.csv}/' "$work/minimal_c/run.yaml" \
      >"$work/halos/run.yaml"
    run 2 "$work/halos" "$work/minimal_c/build/heat"
    [ -s "$work/halos/results/halos.csv" ]
    ;;
  cmake)
    build_outside minimal_cpp
    run 2 "$work/minimal_cpp" build/wave
    [ -s "$work/minimal_cpp/results/histogram.csv" ]
    if test_all; then
      cp -r "$SOURCE/examples/minimal_c" "$work/of_build_tree"
      "$CMAKE" -S "$work/of_build_tree" -B "$work/of_build_tree/build" -DSidestream_DIR="$BUILD"
      "$CMAKE" --build "$work/of_build_tree/build"
      run 2 "$work/of_build_tree" build/heat
      lines "$work/of_build_tree/results/statistics.csv" 21
      build_outside spectral_elements
      run 2 "$work/spectral_elements" build/elements
      lines "$work/spectral_elements/results/statistics.csv" 11
      build_outside block_tree
      run 2 "$work/block_tree" build/block_tree
      lines "$work/block_tree/results/statistics.csv" 9
      build_outside particles
      run 2 "$work/particles" build/particles
      lines "$work/particles/results/statistics.csv" 13
      build_outside reader
      for language in c cpp; do
        timeout 60 "$MPIRUN" -n 2 "$work/reader/build/example_column_$language" \
          "$SOURCE/tests/storage/golden/database-raw" field 0 "$work/map-$language"
      done
      cmp "$work/map-c" "$work/map-cpp"
    fi
    # The package does not change a project's own flags.
    cp -r "$SOURCE/examples/minimal_cpp" "$work/own_flags"
    cp "$SOURCE/tests/packaging/own_flags.cpp" "$work/own_flags/wave.cpp"
    "$CMAKE" -S "$work/own_flags" -B "$work/own_flags/build" -DCMAKE_PREFIX_PATH="$PREFIX" \
      -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
    "$CMAKE" --build "$work/own_flags/build"
    "$work/own_flags/build/wave"
    # A project without C is told what to write.
    cp -r "$SOURCE/examples/minimal_cpp" "$work/without_c"
    sed -i 's/LANGUAGES C CXX/LANGUAGES CXX/' "$work/without_c/CMakeLists.txt"
    if "$CMAKE" -S "$work/without_c" -B "$work/without_c/build" -DCMAKE_PREFIX_PATH="$PREFIX" \
      >"$work/message" 2>&1; then
      echo "a project without C was configured" >&2
      exit 1
    fi
    grep -q "LANGUAGES C CXX" "$work/message"
    ;;
  pkg_config)
    cp -r "$SOURCE/examples/minimal_c" "$work/minimal_c"
    # PKG_CONFIG_PATH must be as in the first line of the Makefile, and not come from outside.
    unset PKG_CONFIG_PATH
    make -C "$work/minimal_c" MPICC="$MPICC" PKG_CONFIG="$PKG_CONFIG" PKG_CONFIG_PATH="$PREFIX/$LIBDIR/pkgconfig"
    run 2 "$work/minimal_c" ./heat
    lines "$work/minimal_c/results/statistics.csv" 21
    export PKG_CONFIG_PATH=$PREFIX/$LIBDIR/pkgconfig
    # shellcheck disable=SC2046 # several words
    "$MPICXX" -std=c++17 "$SOURCE/tests/packaging/own_flags.cpp" -o "$work/own_flags" \
      $("$PKG_CONFIG" --cflags --libs sidestream)
    "$work/own_flags"
    ;;
  fortran)
    build_outside minimal_fortran
    run 2 "$work/minimal_fortran" build/heat
    lines "$work/minimal_fortran/results/statistics.csv" 21
    rm -r "$work/minimal_fortran/results"
    unset PKG_CONFIG_PATH
    make -C "$work/minimal_fortran" MPIFC="$MPIFC" PKG_CONFIG="$PKG_CONFIG" PKG_CONFIG_PATH="$PREFIX/$LIBDIR/pkgconfig"
    run 2 "$work/minimal_fortran" ./heat
    lines "$work/minimal_fortran/results/statistics.csv" 21
    if test_all; then
      build_outside pencils
      run 2 "$work/pencils" build/pencils
      lines "$work/pencils/results/statistics.csv" 21
      build_outside common_blocks
      run 2 "$work/common_blocks" build/heat77
      lines "$work/common_blocks/results/statistics.csv" 21
    fi
    ;;
  plugin)
    take_minimal_c
    build_outside analysis_plugin
    build_outside codec_plugin
    cd "$work/analysis_plugin"
    cp build/libextremum.so .
    run 3 . ../minimal_c/build/heat
    lines results/hottest.csv 21
    lines results/coldest.csv 21
    # At the start the corner is hot and the rest is cold. The lowest global index counts among equal cells.
    python3 "$SOURCE/tests/packaging/check_extremum.py" results/hottest.csv 400 0 0 0
    python3 "$SOURCE/tests/packaging/check_extremum.py" results/coldest.csv 300 16 0 0
    # With a dedicated server the bytes are the same.
    mv results inline
    sed -i 's/mode: inline/mode: cores/' run.yaml
    run 4 . ../minimal_c/build/heat
    cmp inline/hottest.csv results/hottest.csv
    # The checker also loads the plug-in, and knows its options.
    "$PREFIX/bin/sidestream" check run.yaml --ranks 4 --set n=32
    sed -i 's/of: maximum/off: maximum/' run.yaml
    if "$PREFIX/bin/sidestream" check run.yaml --ranks 4 --set n=32 >message 2>&1; then
      echo "a misspelt option of the plug-in was accepted" >&2
      exit 1
    fi
    grep -q "off" message
    # All headers of the kit compile outside the source tree, in a plug-in that works; some need HDF5's.
    sed -i 's/off: maximum/of: maximum/' run.yaml
    (cd "$PREFIX/include" && find sidestream/kit -name '*.hpp' ! -path '*/hdf5/*' | sort | sed 's/.*/#include "&"/') >kit.cpp
    [ "$(wc -l <kit.cpp)" -gt 20 ]
    cat extremum.cpp >>kit.cpp
    "$CXX" -std=c++20 -Wall -Wextra -Werror -shared -fPIC -I"$PREFIX/include" kit.cpp -lfmt -o libextremum.so
    rm -r results
    run 4 . ../minimal_c/build/heat
    cmp inline/hottest.csv results/hottest.csv
    ;;
  partitioner)
    build_outside partitioner_plugin
    cd "$work/partitioner_plugin"
    cp build/libmorton.so .
    "$PREFIX/bin/sidestream" plan run.yaml --metadata box:64x64x64/4x4x4 --set n=64 --servers 5 --table >plan
    grep -q "partitioner  morton" plan
    grep -q "servers      5 with 12 to 13 blocks" plan
    ;;
  python_analysis)
    # The library that runs Python, and the package, are found beside the installed library and from the command.
    unset PYTHONPATH SIDESTREAM_PLUGIN_PATH
    take_minimal_c
    cp -r "$SOURCE/examples/python_analysis" "$work"
    run 2 "$work/python_analysis" ../minimal_c/build/heat
    cd "$work/python_analysis"
    lines results/front.csv 641
    [ -s results/middle-010.png ]
    "$PREFIX/bin/sidestream" check run.yaml --ranks 2 --set n=32
    sed -i 's/threshold:/thresholds:/' run.yaml
    if "$PREFIX/bin/sidestream" check run.yaml --ranks 2 --set n=32 >message 2>&1; then
      echo "a misspelt argument of the class was accepted" >&2
      exit 1
    fi
    grep -q "did you mean 'threshold'?" message
    ;;
  python_client)
    # The prefix has the client, which is found without the build and without a library path.
    cp "$SOURCE/examples/minimal_python/heat.py" "$SOURCE/examples/minimal_python/run.yaml" "$work"
    cd "$work"
    export PYTHONPATH=$PREFIX/$LIBDIR/sidestream/python
    timeout 60 "$MPIRUN" -n 2 "$PYTHON" heat.py run.yaml
    [ -s results/statistics.csv ]
    "$PYTHON" -c 'import sidestream; assert sidestream.__file__.startswith("'"$PREFIX"'"), sidestream.__file__'
    ;;
  faulty_plugins)
    take_minimal_c
    cp "$SOURCE/examples/analysis_plugin/run.yaml" "$work"
    # refused FAULT TEXT checks that a plug-in with this fault is refused with this text, by the checker and on every
    # rank.
    refused() {
      "$CXX" -std=c++20 -shared -fPIC -DFAULT="$1" -I"$PREFIX/include" "$SOURCE/tests/packaging/faulty/plugin.cpp" \
        -o "$work/libextremum.so"
      refuses "$2" "$PREFIX/bin/sidestream" check run.yaml --ranks 3 --set n=32
      refuses "$2" timeout 60 "$MPIRUN" -n 3 minimal_c/build/heat run.yaml
    }
    # refuses TEXT COMMAND... checks that the command fails, and prints the text and the place that names the plug-in.
    refuses() {
      local text=$1
      shift
      if "$@" >message 2>&1; then
        echo "accepted: $*" >&2
        exit 1
      fi
      grep -q "run.yaml:3:.*$text" message || { cat message >&2; exit 1; }
    }
    cd "$work"
    refused WRONG_VERSION "expected version 2; build it again"
    refused WRONG_LAYOUT "data layout"
    if test_all; then # tests/config loads such plug-ins in any case
      refused WRONG_MAGIC "does not return a plug-in header"
      refused THROWS "this plug-in wants something else"
    fi
    echo "int nothing;" | "$CC" -x c -shared -fPIC - -o libextremum.so
    refuses "no function sidestream_plugin" "$PREFIX/bin/sidestream" check run.yaml --ranks 3 --set n=32
    echo "no library" >libextremum.so
    refuses "cannot be loaded" "$PREFIX/bin/sidestream" check run.yaml --ranks 3 --set n=32
    rm libextremum.so
    refuses "cannot be loaded" "$PREFIX/bin/sidestream" check run.yaml --ranks 3 --set n=32
    ;;
  tool)
    # The command finds the library beside it, without LD_LIBRARY_PATH.
    "$PREFIX/bin/sidestream" --version >"$work/version"
    grep -qE '^sidestream 0\.1\.0$' "$work/version"
    grep -qE '^with(out)?  +zstd  +' "$work/version"  # lists optional libraries
    "$PREFIX/bin/sidestream" reference >"$work/reference.md"
    grep -q placement "$work/reference.md"
    # The moved tree runs as a whole.
    "$PREFIX/bin/sidestream" selftest >"$work/selftest"
    grep -q "^7 passed, 0 failed, 0 left out" "$work/selftest" || { cat "$work/selftest" >&2; exit 1; }
    # Modules lie next to the library.
    grep -q '^### halos' "$work/reference.md"
    ;;
  *)
    echo "consume.sh: no test named '$1'" >&2
    exit 2
    ;;
esac
