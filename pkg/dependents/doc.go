// Package dependents is about objects that belong to custom resources: how they name their owner, and watches of their metadata.
//
// A [Watcher] keeps one watch for each kind and namespace. Unlike an informer, it needs memory only for the objects that it keeps,
// not for all that exist, and it can stop even while one of its kinds cannot be listed.
package dependents
