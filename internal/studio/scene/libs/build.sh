#!/usr/bin/env bash
# Makes libs.zip from the packages of package.json, at the versions and with
# the checksums of package-lock.json. A developer's tool: libs.zip is checked
# in. Needs npm and go.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$here/package.json" "$here/package-lock.json" "$dir/"
(cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund --silent)
cd "$here" && go run ./pack "$dir" "$here/libs.zip" ../../../../docs/scene-libraries.md
