#!/usr/bin/env bash
# Runs every fuzz test of the repository for a while, one after the other.
# FUZZTIME (10s) is for each; FUZZ names packages instead of ./...
set -euo pipefail
cd "$(dirname "$0")/.."
count=0
for package in $(go list "${FUZZ:-./...}"); do
  for name in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    printf '\n== %s %s\n' "$package" "$name"
    go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-10s}" -fuzzminimizetime 100x "$package"
    count=$((count + 1))
  done
done
[ "$count" -gt 0 ] || { echo "fuzz: no fuzz test was found" >&2; exit 1; }
printf '\nfuzz: %d tests\n' "$count"
