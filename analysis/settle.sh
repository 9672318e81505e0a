#!/bin/sh
# Before make compares times: put right what times cannot tell.
#   the version that is built, the renderer and the list of notebooks, each in a file under
#   build/ that is written only when it changes;
#   what was lost: a notebook whose outputs have gone is run again, an environment without its
#   Python is made again.
# Called as: settle.sh RENDERER NOTEBOOK...
set -eu
renderer=$1
shift

keep() { # keep FILE TEXT: write TEXT to FILE unless it stands there already
  if [ ! -f "$1" ] || [ "$(cat "$1")" != "$2" ]; then
    printf '%s\n' "$2" > "$1.$$"
    mv -f "$1.$$" "$1"
  fi
}

if [ -e build ] && [ ! -d build ]; then
  echo "error: build is a file, and its place is needed for a folder. To mend it: move it away" >&2
  exit 1
fi
mkdir -p build
sh analysis/version.sh
keep build/renderer "$renderer"
keep build/notebooks.txt "$*"

for list in build/deps/*.files; do
  [ -f "$list" ] || continue
  name=${list##*/}
  while IFS= read -r file; do
    [ -e "$file" ] || { rm -f "build/notebooks/${name%.files}.ipynb"; break; }
  done < "$list"
done
[ -d report/_generated/fonts ] || rm -f report/_generated/vega-bundle.b64
[ ! -d .venv ] || [ -x .venv/bin/python ] || rm -f .venv/.ready .venv/.ready-dev .venv/.ready-publish
