// Package valuesfrom reads the values of custom resources from Secrets and ConfigMaps, and notices their changes.
//
// A [Watcher] watches the metadata of the objects that kinds of custom resources need; the process keeps no contents except for those
// that a resource used last. [Reader.Read] reads an object from the API server only if the watch doesn't confirm that it still has the
// version which the resource used last, so that resources at rest cause no requests.
//
// No error of the package contains content of an object.
package valuesfrom
