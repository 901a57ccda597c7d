// Package validate tells what is wrong with an operator bundle: faults of its files, what the validators
// of operator-framework find, and rules of our own. It reads bundles through fs.FS and prints nothing.
package validate
