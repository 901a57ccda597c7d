// Package image builds, pushes, copies and reads container images without Docker. Options.Images finds an Image in a registry,
// an OCI layout or a tarball, Options.Build makes one from a Recipe, and Registries.Push, WriteLayout and WriteTarball write
// it. Open reads a bundle's files from an image, OpenCatalog a catalog's.
package image
