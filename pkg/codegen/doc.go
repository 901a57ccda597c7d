// Package codegen generates what controller-gen generates, byte for byte: deepcopy methods, CRDs, roles, webhook
// configurations and apply configurations. Generate runs the generators of controller-tools in-process on the Calls of a
// project; it loads packages once for all generators, type-checks only API packages, and caches the results. APIs reads
// the kinds of a project for its CSV, and ControllerGen behaves like the program.
//
// Generate takes these steps, and returns the files to its caller instead of writing them:
//
//	call.go, tasks.go, header.go   parse the calls of controller-gen into tasks, one for each generator
//	project.go                     read the Go files of the project, from disk and from the overlay
//	keys.go, store.go              if no input changed, return the cached result
//	syntax.go, markers.go          parse the files and their markers, within the limits of limits*.go
//	manifests.go                   generate roles and webhook configurations, which depend only on markers
//	units.go                       divide the rest into units, whose results are cached separately
//	load*.go                       load the packages of the other units with the types that they refer to
//	passes.go, crds.go             generate deepcopy methods, CRDs and schemas, one pass for each task
//	applyconfig.go                 generate apply configurations
package codegen
