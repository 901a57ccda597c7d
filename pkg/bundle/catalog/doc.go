// Package catalog creates, validates and draws file-based catalogs: the packages, channels and bundles that the Operator
// Lifecycle Manager offers. Load reads a Catalog, ReadBundle a Source, and Catalog.Add adds sources and keeps the rest of
// the files byte for byte. Formats and rules follow operator-registry's alpha/declcfg.
package catalog
