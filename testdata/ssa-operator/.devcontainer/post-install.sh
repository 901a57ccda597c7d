#!/usr/bin/env bash
# Prepares a new development container: the tools of the Makefile, and the modules of the project.
set -o errexit -o nounset -o pipefail

echo "Building operon and kind from source. This takes some minutes, once."
go install github.com/operon-sdk/operon@latest
go install sigs.k8s.io/kind@v0.31.0

echo "Downloading the modules of the project."
go mod download

# Docker starts beside this script. Kind clusters need it.
for _ in {1..30}; do
  if docker info >/dev/null 2>&1; then
    echo "Ready: make help lists what you can do."
    exit 0
  fi
  sleep 2
done
echo "Docker did not start within a minute. make test works without it, make test-e2e does not." >&2
