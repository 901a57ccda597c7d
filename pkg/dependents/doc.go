// Package dependents is about objects that belong to custom resources: how they name their owner, and watches of their metadata.
//
// A [Watcher] keeps one watch for each kind and namespace. Its memory depends on the objects that it keeps only, not on those that
// exist: an informer keeps all, and never stops if one of its kinds cannot be listed.
package dependents
