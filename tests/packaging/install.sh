#!/usr/bin/env bash
# Installs a build tree and moves the result to PREFIX: install.sh CMAKE BUILD PREFIX
set -euo pipefail
cmake=$1 build=$2 prefix=$3
rm -rf "$prefix" "$prefix.before"
"$cmake" --install "$build" --prefix "$prefix.before"
mv "$prefix.before" "$prefix"

# A path of this machine in an installed text file would break on another.
if grep -rIlE "$build|$prefix" "$prefix"; then
  echo "install.sh: the files above name $build or $prefix; an installed tree must not" >&2
  exit 1
fi

# Neither do programs and libraries. Two have paths that are meant, or that no option of the compiler removes: messages
# of gfortran's library name sources, and analyses in Python know the interpreter that they were built with.
source=$(cd "$(dirname "$0")/../.." && pwd)
if find "$prefix" -type f ! -name 'libsidestream_fortran.*' ! -name interpreter -print0 |
  xargs -0 grep -lE "$build|$source/(src|include|modules|tools|bindings|interop)"; then
  echo "install.sh: the files above name $build or a folder of $source; an installed tree must not" >&2
  exit 1
fi
# Libraries of the tree find each other wherever it is.
while read -r file; do
  if readelf -d "$file" | grep -q 'NEEDED.*libsidestream' && ! readelf -d "$file" | grep -qE 'R(UN)?PATH.*\$ORIGIN'; then
    echo "install.sh: $file has no run path from \$ORIGIN" >&2
    exit 1
  fi
done < <(find "$prefix" -type f \( -name '*.so*' -o -path '*/bin/*' -o -name 'sidestream-worker' \))
