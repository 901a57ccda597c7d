package project

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Names of Services and namespaces have at most 63 characters, and names of objects begin with the name of the project. What would be too long
// is shortened, so that the name of the project can have 63, too.
const (
	webhookServiceSuffix = "-webhook-service"
	kindNodeSuffix       = "-test-e2e-control-plane"

	metricsService      = "controller-manager-metrics-service"
	shortMetricsService = "metrics-service"
)

// ObjectPrefix returns the prefix of the names of a project's objects, without the hyphen after it: the name of the project, or the beginning
// of a long one with a hash.
func ObjectPrefix(name string) string { return shortened(name, longestLabel-len(webhookServiceSuffix)) }

// ObjectNamespace returns the namespace of a project's operator.
func ObjectNamespace(name string) string { return ObjectPrefix(name) + "-system" }

// MetricsService returns the name of the metrics Service in its manifest, to which a prefix with a hyphen is added.
func MetricsService(prefix string) string {
	if len(prefix)+len(metricsService) > longestLabel {
		return shortMetricsService
	}
	return metricsService
}

// KindCluster returns the name of the Kind cluster for the end-to-end tests. The name of its node is the name of a host.
func KindCluster(name string) string {
	return shortened(name, longestLabel-len(kindNodeSuffix)) + "-test-e2e"
}

// shortened returns a name with at most limit characters. Different names remain different.
func shortened(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:4])
	return strings.TrimRight(name[:limit-len(hash)-1], "-") + "-" + hash
}
