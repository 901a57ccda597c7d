#!/usr/bin/env bash
# Install the tools of the Makefile and the modules of the project in a new development container.
set -o errexit -o nounset -o pipefail

echo "Building operon and kind from source, which takes a few minutes."
make install-operon install-kind

echo "Downloading the modules of the project."
go mod download

# Docker starts in the background. Kind requires it.
for _ in {1..30}; do
  if docker info >/dev/null 2>&1; then
    echo "Ready. Run make dev to try the operator without a cluster, or make help to list the targets."
    exit 0
  fi
  sleep 2
done
echo "Docker did not start within a minute. make dev and make test don't need it, but make test-e2e does." >&2
