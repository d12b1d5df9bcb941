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
