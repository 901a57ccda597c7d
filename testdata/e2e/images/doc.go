// Package images makes the images that the tests' cluster runs: of programs that are built from source here, each
// a static file in an image of its own. Builds are kept by what goes into them.
package images
