package project

import (
	"cmp"
	"slices"
	"strings"

	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A coreVersion is a version of an API group of Kubernetes with the kinds that can be watched.
type coreVersion struct {
	// group and domain are as in PROJECT. pkg is the package below k8s.io/api if it is not the group, or an import path.
	group, domain, pkg, version string
	// kinds are separated by spaces.
	kinds string
}

// The import paths of types.
const (
	modulePathAPI        = "k8s.io/api/"
	apiextensionsPackage = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// coreVersions lists the types of k8s.io/api and of CustomResourceDefinition in the version that scaffolded
// projects require. The newest stable version of each group is first. It is constant.
var coreVersions = []coreVersion{
	{"admissionregistration", "k8s.io", "", "v1", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"},
	{"admissionregistration", "k8s.io", "", "v1beta1", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"},
	{"admissionregistration", "k8s.io", "", "v1alpha1", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"},
	{"apiextensions", "k8s.io", apiextensionsPackage, "v1", "CustomResourceDefinition"},
	{"apps", "", "", "v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"},
	{"apps", "", "", "v1beta2", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"},
	{"apps", "", "", "v1beta1", "ControllerRevision Deployment StatefulSet"},
	{"autoscaling", "", "", "v2", "HorizontalPodAutoscaler"},
	{"autoscaling", "", "", "v1", "HorizontalPodAutoscaler"},
	{"batch", "", "", "v1", "CronJob Job"},
	{"batch", "", "", "v1beta1", "CronJob"},
	{"certificates", "k8s.io", "", "v1", "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest"},
	{"certificates", "k8s.io", "", "v1beta1", "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest"},
	{"certificates", "k8s.io", "", "v1alpha1", "ClusterTrustBundle"},
	{"coordination", "k8s.io", "", "v1", "Lease"},
	{"coordination", "k8s.io", "", "v1beta1", "Lease LeaseCandidate"},
	{"coordination", "k8s.io", "", "v1alpha2", "LeaseCandidate"},
	{"core", "", "", "v1", "ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount"},
	{"discovery", "k8s.io", "", "v1", "EndpointSlice"},
	{"discovery", "k8s.io", "", "v1beta1", "EndpointSlice"},
	{"events", "k8s.io", "", "v1", "Event"},
	{"events", "k8s.io", "", "v1beta1", "Event"},
	{"extensions", "", "", "v1beta1", "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet"},
	{"flowcontrol.apiserver", "k8s.io", "flowcontrol", "v1", "FlowSchema PriorityLevelConfiguration"},
	{"flowcontrol.apiserver", "k8s.io", "flowcontrol", "v1beta3", "FlowSchema PriorityLevelConfiguration"},
	{"flowcontrol.apiserver", "k8s.io", "flowcontrol", "v1beta2", "FlowSchema PriorityLevelConfiguration"},
	{"flowcontrol.apiserver", "k8s.io", "flowcontrol", "v1beta1", "FlowSchema PriorityLevelConfiguration"},
	{"internal.apiserver", "k8s.io", "apiserverinternal", "v1alpha1", "StorageVersion"},
	{"lifecycle", "k8s.io", "", "v1alpha1", "Eviction EvictionRequest"},
	{"networking", "k8s.io", "", "v1", "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR"},
	{"networking", "k8s.io", "", "v1beta1", "IPAddress Ingress IngressClass ServiceCIDR"},
	{"node", "k8s.io", "", "v1", "RuntimeClass"},
	{"node", "k8s.io", "", "v1beta1", "RuntimeClass"},
	{"node", "k8s.io", "", "v1alpha1", "RuntimeClass"},
	{"policy", "", "", "v1", "PodDisruptionBudget"},
	{"policy", "", "", "v1beta1", "PodDisruptionBudget"},
	// The peers write k8s.io/api/rbac.authorization, which does not exist.
	{"rbac.authorization", "k8s.io", "rbac", "v1", "ClusterRole ClusterRoleBinding Role RoleBinding"},
	{"rbac.authorization", "k8s.io", "rbac", "v1beta1", "ClusterRole ClusterRoleBinding Role RoleBinding"},
	{"rbac.authorization", "k8s.io", "rbac", "v1alpha1", "ClusterRole ClusterRoleBinding Role RoleBinding"},
	{"resource", "k8s.io", "", "v1", "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"},
	{"resource", "k8s.io", "", "v1beta2", "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"},
	{"resource", "k8s.io", "", "v1beta1", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"},
	{"resource", "k8s.io", "", "v1alpha3", "DeviceTaintRule ResourcePoolStatusRequest"},
	{"scheduling", "k8s.io", "", "v1", "PriorityClass"},
	{"scheduling", "k8s.io", "", "v1beta1", "PodGroup PriorityClass Workload"},
	{"scheduling", "k8s.io", "", "v1alpha3", "CompositePodGroup PodGroup Workload"},
	{"storage", "k8s.io", "", "v1", "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"},
	{"storage", "k8s.io", "", "v1beta1", "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"},
	{"storage", "k8s.io", "", "v1alpha1", "CSIStorageCapacity VolumeAttachment VolumeAttributesClass"},
	{"storagemigration", "k8s.io", "", "v1", "StorageVersionMigration"},
	{"storagemigration", "k8s.io", "", "v1beta1", "StorageVersionMigration"},
}

// clusterScoped lists the kinds of coreVersions that are not in namespaces. They are so in all versions and groups. It is
// constant.
var clusterScoped = strings.Fields("CSIDriver CSINode CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle " +
	"ComponentStatus CustomResourceDefinition DeviceClass DeviceTaintRule FlowSchema IPAddress IngressClass MutatingAdmissionPolicy " +
	"MutatingAdmissionPolicyBinding MutatingWebhookConfiguration Namespace Node PersistentVolume PriorityClass " +
	"PriorityLevelConfiguration ResourcePoolStatusRequest ResourceSlice RuntimeClass ServiceCIDR StorageClass StorageVersion " +
	"StorageVersionMigration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration " +
	"VolumeAttachment VolumeAttributesClass")

// A CoreResource is the resource of a kind of Kubernetes.
type CoreResource struct {
	Plural     string
	Namespaced bool
}

// FindCoreResource returns the resource of a kind of Kubernetes in any version of an API group, as in apiVersion ("" for v1). ok
// is false if Kubernetes has no such kind that can be created and watched.
func FindCoreResource(group, kind string) (resource CoreResource, ok bool) {
	for _, v := range coreVersions {
		if v.apiGroup() == group && slices.Contains(strings.Fields(v.kinds), kind) {
			return CoreResource{Plural: RegularPlural(kind), Namespaced: !slices.Contains(clusterScoped, kind)}, true
		}
	}
	return CoreResource{}, false
}

// FindCoreKind returns the kind of Kubernetes with a resource of an API group, as in apiVersion, and its preferred version. ok is
// false if Kubernetes has no such kind.
func FindCoreKind(group, plural string) (kind, version string, ok bool) {
	for _, v := range coreVersions {
		if v.apiGroup() != group || ok && apiversion.CompareKubeAwareVersionStrings(v.version, version) < 0 {
			continue
		}
		for name := range strings.FieldsSeq(v.kinds) {
			if RegularPlural(name) == plural {
				kind, version, ok = name, v.version, true
			}
		}
	}
	return kind, version, ok
}

// apiGroup returns the group as in apiVersion.
func (v coreVersion) apiGroup() string {
	if v.group == "core" {
		return ""
	}
	return (GVK{Group: v.group, Domain: v.domain}).QualifiedGroup()
}

// path returns the import path of the types.
func (v coreVersion) path() string {
	switch {
	case v.pkg == "":
		return modulePathAPI + v.group + "/" + v.version
	case strings.Contains(v.pkg, "/"):
		return v.pkg + "/" + v.version
	}
	return modulePathAPI + v.pkg + "/" + v.version
}

// coreGroup returns the versions of a group of Kubernetes.
func coreGroup(group string) []coreVersion {
	var versions []coreVersion
	for _, v := range coreVersions {
		if v.group == group {
			versions = append(versions, v)
		}
	}
	return versions
}

// coreGroupNamed returns the group of Kubernetes that a name probably means: the qualified name (networking.k8s.io), the package
// (rbac) or a misspelled group.
func coreGroupNamed(group string) string {
	var names []string
	for _, v := range coreVersions {
		if group == v.group+"."+v.domain || group != "" && group == v.pkg {
			return v.group
		}
		names = append(names, v.group)
	}
	near, _ := diag.Nearest(group, names)
	return near
}

// checkCore verifies that a group of Kubernetes has a version and a kind.
func checkCore(versions []coreVersion, version, kind string) (coreVersion, diag.Findings) {
	group := versions[0].group
	var names []string
	for _, v := range versions {
		names = append(names, v.version)
		if v.version != version {
			continue
		}
		kinds := strings.Fields(v.kinds)
		if slices.Contains(kinds, kind) {
			return v, nil
		}
		near, _ := diag.Nearest(kind, kinds)
		return v, one("--kind", kind, "Kubernetes has no such kind in "+group+"/"+version+" (it has "+strings.Join(kinds, ", ")+")", near)
	}
	suggestion := names[0]
	if near := suggestVersion(version); slices.Contains(names, near) {
		suggestion = near
	}
	return coreVersion{}, one("--version", version, "Kubernetes has group "+group+" in "+strings.Join(names, ", "), suggestion)
}

// CoreKinds returns the kinds of Kubernetes in any version of an API group, as in apiVersion.
func CoreKinds(group string) []string {
	var kinds []string
	for _, v := range coreVersions {
		if v.apiGroup() == group {
			kinds = append(kinds, strings.Fields(v.kinds)...)
		}
	}
	return kinds
}

// CoreGroups returns the API groups of Kubernetes, as in apiVersion.
func CoreGroups() []string {
	var groups []string
	for _, v := range coreVersions {
		if group := v.apiGroup(); !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// commonCoreGroups are the groups of Kubernetes whose kinds most operators use, in this order. It is constant.
var commonCoreGroups = []string{"apps", "core", "batch", "networking", "rbac.authorization", "autoscaling", "policy"}

// StableCoreKinds returns the kinds of Kubernetes that have a stable version, each in its newest one. Kinds of common groups come first.
func StableCoreKinds() []GVK {
	var kinds []GVK
	for _, v := range coreVersions {
		for kind := range strings.FieldsSeq(v.kinds) {
			known := slices.ContainsFunc(kinds, func(k GVK) bool { return k.Group == v.group && k.Kind == kind })
			if !known && !strings.ContainsAny(v.version, "ab") { // neither alpha nor beta
				kinds = append(kinds, GVK{Group: v.group, Domain: v.domain, Version: v.version, Kind: kind})
			}
		}
	}
	rank := func(k GVK) uint { return uint(slices.Index(commonCoreGroups, k.Group)) } // other groups are last
	slices.SortStableFunc(kinds, func(one, other GVK) int { return cmp.Compare(rank(one), rank(other)) })
	return kinds
}
