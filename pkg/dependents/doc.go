// Package dependents is about objects that belong to custom resources: how they name their owner, and watches of their metadata.
package dependents
