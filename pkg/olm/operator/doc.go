// Package operator installs, upgrades and removes operators with OLM. Run serves a Bundle in a catalog, subscribes OLM to it and
// waits until the operator is ready; Upgrade replaces an installed version, and Cleanup removes what Run created.
package operator
