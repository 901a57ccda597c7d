// Package scorecard runs the tests of a bundle's scorecard configuration: the built-in ones in this
// process, and any as pods in a cluster. Results are scorecard.operatorframework.io/v1alpha3 objects,
// the same that operator-sdk gives. It prints nothing but what it is given a writer for.
package scorecard
