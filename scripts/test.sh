#!/usr/bin/env bash
# Runs all tests: first the packages that need no display, side by side; then
# those that start X servers, browsers and encoders, one package at a time,
# for they would only make each other slow; last the tests of the whole.
# Arguments (for instance -race) go to every "go test" but the last.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PWD/.tools/bin:$PATH"
began=$SECONDS
heavy='/(internal/(record|serve|edit/clip|edit/page|media/chromium|studio/scene|studio/renderer)|web|bench|cmd)(/|$)'
whole='/e2e(/|$)'

packages=$(go list ./...)
light_ones=$(grep -Ev "$heavy|$whole" <<<"$packages" || true)
heavy_ones=$(grep -E "$heavy" <<<"$packages" || true)
whole_ones=$(grep -E "$whole" <<<"$packages" || true)

run() { # TITLE PACKAGES ARGUMENTS...
  local title=$1 list=$2
  shift 2
  [ -n "$list" ] || return 0
  printf '\n== %s (%d packages)\n' "$title" "$(wc -w <<<"$list")"
  # shellcheck disable=SC2086 # the list is words
  go test "$@" $list
}
printf '== go vet\n'
go vet ./...
run "Tests without a display" "$light_ones" -timeout 10m -p 2 "$@"
run "Tests with displays, browsers and encoders" "$heavy_ones" -timeout 15m -p 1 "$@"
# With -v the whole shows its cases; its binaries are built as they are shipped.
run "Tests of the whole" "$whole_ones" -timeout 30m -p 1 -count 1 -v
printf '\nAll tests passed in %d s.\n' $((SECONDS - began))
