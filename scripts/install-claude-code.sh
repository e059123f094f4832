#!/usr/bin/env bash
# Installs Claude Code at the version that is tested into .tools/claude-code, and
# prints the path of its program. No script of any package is run.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=.tools/claude-code
mkdir -p "$dir"
if ! cmp -s tools/claude-code/package-lock.json "$dir/package-lock.json" || [[ ! -d "$dir/node_modules" ]]; then
  cp tools/claude-code/package.json tools/claude-code/package-lock.json "$dir/"
  (cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund >&2)
fi
for program in "$PWD/$dir"/node_modules/@anthropic-ai/claude-code-*/claude; do
  if [[ -x "$program" ]] && "$program" --version >/dev/null 2>&1; then
    echo "$program"
    exit
  fi
done
echo "no Claude Code for this machine in $dir" >&2
exit 1
