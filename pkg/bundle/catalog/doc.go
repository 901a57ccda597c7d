// Package catalog makes, checks and draws file-based catalogs: the packages, channels and bundles that
// the Operator Lifecycle Manager offers. Formats and rules are those of operator-registry's
// alpha/declcfg; what people wrote into a catalog stays as they wrote it, to the byte.
package catalog
