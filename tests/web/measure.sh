#!/usr/bin/env bash
# Puts the page that measures the package into a folder: tests/web/measure.sh FOLDER. Serve it and open measure.html;
# demos/web.sh builds the package. docs/browser.md has figures.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
cp tests/web/measure.html tests/web/measure*.js web/page/orders.js "$1"
rm -rf "$1/quadmill"
cp -r build/web/package "$1/quadmill"
