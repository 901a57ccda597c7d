// Package release installs, compares, upgrades, repairs and uninstalls one Helm release: that of a custom resource. It uses
// Helm's actions and storage, so that releases made by operator-sdk's helm-operator and by the helm command continue.
package release
