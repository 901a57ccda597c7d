// Package image knows container images and their registries, without Docker.
package image
