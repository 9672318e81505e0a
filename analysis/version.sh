#!/bin/sh
# Say which version is built: the last commit that touches what the report is made of
# and what it is published with.
# Writes build/version.json only when it changes, so that make has nothing to do otherwise.
# Outside a git checkout of its own the project has no commit and a fixed date.
set -eu
parts="data analysis report requirements.txt requirements-publish.txt CITATION.cff"
commit="" epoch=1787616000 date=2026-08-25 dirty=false
if [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = "" ]; then
  line=$(TZ=UTC git log -1 --format='%H %ct %cd' --date=format-local:%Y-%m-%d -- $parts \
    2>/dev/null || true)
  if [ -n "$line" ]; then
    commit=${line%% *} rest=${line#* }
    epoch=${rest% *} date=${rest#* }
    [ -z "$(git status --porcelain -- $parts 2>/dev/null)" ] || dirty=true
  fi
fi
mkdir -p build
short=$(printf '%.10s' "$commit")
new="{\"commit\": \"$commit\", \"short\": \"$short\", \"date\": \"$date\", \"epoch\": $epoch, \"dirty\": $dirty}"
if [ ! -f build/version.json ] || [ "$(cat build/version.json)" != "$new" ]; then
  printf '%s\n' "$new" > "build/.version.$$"
  mv -f "build/.version.$$" build/version.json
fi
