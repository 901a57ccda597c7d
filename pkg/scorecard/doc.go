// Package scorecard runs the tests of a bundle's scorecard configuration: the built-in ones in this process with Local, and any as pods
// with Cluster. ReadConfig reads the configuration, Run runs its tests, and Write writes the results, which are
// scorecard.operatorframework.io/v1alpha3 objects like operator-sdk.
package scorecard
