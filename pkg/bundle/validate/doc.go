// Package validate checks operator bundles: their files, the validators of operator-framework/api, and additional rules.
// Bundle and Bundles read a Source through fs.FS and return a Result of Findings, which a Writer encodes.
package validate
