// Package helmkinds contains what commands do with kinds whose objects are releases of Helm charts, in Helm projects and in Go
// projects. It derives the CRD, the sample and the permissions of such a kind from its chart, and updates charts to newer versions.
package helmkinds
