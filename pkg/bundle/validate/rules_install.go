package validate

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// ruleIcon checks the icon, which the default validators ignore.
func (c *content) ruleIcon() {
	icons := c.api.CSV.Spec.Icon
	if len(icons) == 0 {
		c.own(c.csv, "icon", "spec.icon", "is missing, so consoles show no icon", "add an icon with base64data and mediatype; a small SVG is enough")
		return
	}
	for i, icon := range icons {
		field := fmt.Sprintf("spec.icon[%d]", i)
		switch data, err := base64.StdEncoding.DecodeString(icon.Data); {
		case icon.Data == "":
			c.own(c.csv, "icon", field+".base64data", "is empty", "write the icon's bytes in base64: base64 -w0 icon.svg")
		case err != nil:
			c.own(c.csv, "icon", field+".base64data", "is not valid base64", "write the icon's bytes in base64: base64 -w0 icon.svg")
		case icon.MediaType == "image/png" && !strings.HasPrefix(string(data), "\x89PNG"),
			icon.MediaType == "image/gif" && !strings.HasPrefix(string(data), "GIF"),
			icon.MediaType == "image/jpeg" && !strings.HasPrefix(string(data), "\xff\xd8"),
			icon.MediaType == "image/svg+xml" && !strings.Contains(string(data), "<svg"):
			c.own(c.csv, "icon", field+".mediatype", "does not match the data, which is not "+icon.MediaType, "set the media type of the data")
		case icon.MediaType == "":
			c.own(c.csv, "icon", field+".mediatype", "is missing", "write image/svg+xml or what the data is")
		}
	}
}

// A container is a container of a Deployment with its path.
type container struct {
	corev1.Container
	field string
}

const deploymentsField = "spec.install.spec.deployments"

// containers returns the containers of a Deployment in order.
func containers(i int, spec v1alpha1.StrategyDeploymentSpec) []container {
	var out []container
	pod := spec.Spec.Template.Spec
	for _, group := range []struct {
		name  string
		items []corev1.Container
	}{{"initContainers", pod.InitContainers}, {"containers", pod.Containers}} {
		for j, item := range group.items {
			out = append(out, container{item, fmt.Sprintf("%s[%d].spec.template.spec.%s[%d]", deploymentsField, i, group.name, j)})
		}
	}
	return out
}

// ruleImages checks that image references are unambiguous.
func (c *content) ruleImages() {
	check := func(image, field string) {
		name, digest, pinned := strings.Cut(image, "@")
		tag := ""
		if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
			name, tag = name[:i], name[i+1:]
		}
		switch {
		case pinned && digest != "":
		case image == "controller:latest" || name == "controller":
			c.own(c.csv, "image-placeholder", field, fmt.Sprintf("%q is the placeholder image of the scaffold", image), "generate the bundle with the image of your operator: operon bundle --image registry/repository:tag, or make bundle IMG=registry/repository:tag")
		case tag == "":
			c.own(c.csv, "image-tag", field, fmt.Sprintf("%q has neither tag nor digest", image), "write "+image+":<version>, or pin it by digest")
		case tag == "latest":
			c.own(c.csv, "image-latest", field, fmt.Sprintf("%q changes with every release", image), "write the tag of a version, or pin the image by digest")
		}
	}
	for i, deployment := range c.api.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, item := range containers(i, deployment) {
			if item.Image != "" {
				check(item.Image, item.field+".image")
			}
		}
	}
	for i, related := range c.api.CSV.Spec.RelatedImages {
		if related.Image != "" {
			check(related.Image, fmt.Sprintf("spec.relatedImages[%d].image", i))
		}
	}
	if image := c.api.CSV.Annotations["containerImage"]; image != "" {
		check(image, "metadata.annotations.containerImage")
	}
}

// rulePermissions checks the rules of the install strategy and of the roles in the bundle.
func (c *content) rulePermissions() {
	strategy := c.api.CSV.Spec.InstallStrategy.StrategySpec
	for _, group := range []struct {
		name string
		list []v1alpha1.StrategyDeploymentPermissions
	}{{"permissions", strategy.Permissions}, {"clusterPermissions", strategy.ClusterPermissions}} {
		for i, permission := range group.list {
			field := fmt.Sprintf("spec.install.spec.%s[%d]", group.name, i)
			if permission.ServiceAccountName == "" {
				c.own(c.csv, "permissions", field+".serviceAccountName", "is missing, so the permissions have no effect", "set the service account of the deployment")
			}
			if len(permission.Rules) == 0 {
				c.own(c.csv, "permissions", field+".rules", "there are no rules", "remove the entry, or list the rules")
			}
			c.rules(c.csv, field+".rules", permission.Rules)
		}
	}
	for _, obj := range c.objects {
		var role rbacv1.ClusterRole
		if (obj.Kind() == "Role" || obj.Kind() == "ClusterRole") && obj.Into(&role) == nil {
			c.rules(obj, "rules", role.Rules)
		}
	}
}

// rules checks RBAC rules.
func (c *content) rules(obj manifest.Object, field string, rules []rbacv1.PolicyRule) {
	for i, rule := range rules {
		at := fmt.Sprintf("%s[%d]", field, i)
		if len(rule.Verbs) == 0 {
			c.own(obj, "permissions", at+".verbs", "there are no verbs, so the rule allows nothing", "list what the operator does: get, list, watch, create, update, patch, delete")
		}
		if len(rule.NonResourceURLs) > 0 && len(rule.Resources) > 0 {
			c.own(obj, "permissions", at, "a rule cannot have both resources and nonResourceURLs", "split the rule")
		}
		if len(rule.NonResourceURLs) == 0 && len(rule.Resources) == 0 {
			c.own(obj, "permissions", at+".resources", "there are no resources", "list the resources")
		}
		for _, part := range []struct {
			name   string
			values []string
		}{{"apiGroups", rule.APIGroups}, {"resources", rule.Resources}, {"verbs", rule.Verbs}} {
			if slices.Contains(part.values, "*") {
				c.own(obj, "rbac-wildcard", at+"."+part.name, "the wildcard allows everything", "list the "+part.name+" that the operator needs")
			}
		}
	}
}

// ruleAccounts finds permissions without a pod, and unused accounts.
func (c *content) ruleAccounts() {
	strategy := c.api.CSV.Spec.InstallStrategy.StrategySpec
	if len(strategy.DeploymentSpecs) == 0 {
		return // ruleDeployments reports it
	}
	used := map[string]bool{}
	for _, deployment := range strategy.DeploymentSpecs {
		name := deployment.Spec.Template.Spec.ServiceAccountName
		if name == "" {
			name = deployment.Spec.Template.Spec.DeprecatedServiceAccount
		}
		if name == "" {
			name = "default"
		}
		used[name] = true
	}
	accounts := map[string]bool{}
	for _, obj := range c.objects {
		if obj.Kind() == "ServiceAccount" {
			accounts[obj.Name()] = true
		}
	}
	for _, group := range []struct {
		name string
		list []v1alpha1.StrategyDeploymentPermissions
	}{{"permissions", strategy.Permissions}, {"clusterPermissions", strategy.ClusterPermissions}} {
		for i, permission := range group.list {
			if name := permission.ServiceAccountName; name != "" && !used[name] && !accounts[name] {
				c.own(c.csv, "permissions-unused", fmt.Sprintf("spec.install.spec.%s[%d].serviceAccountName", group.name, i),
					fmt.Sprintf("no deployment uses the service account %q, so no pod of the operator gets the permissions", name),
					"set the account of the deployment: "+strings.Join(slices.Sorted(maps.Keys(used)), ", "))
			}
			accounts["\x00"+permission.ServiceAccountName] = true
		}
	}
	bound := map[string]bool{}
	for _, obj := range c.objects {
		var binding rbacv1.ClusterRoleBinding
		if (obj.Kind() == "RoleBinding" || obj.Kind() == "ClusterRoleBinding") && obj.Into(&binding) == nil {
			for _, subject := range binding.Subjects {
				if subject.Kind == "ServiceAccount" {
					bound[subject.Name] = true
				}
			}
		}
	}
	for _, obj := range c.objects {
		if name := obj.Name(); obj.Kind() == "ServiceAccount" && !bound[name] && !used[name] && !accounts["\x00"+name] {
			c.own(obj, "service-account-unused", "metadata.name", "no deployment, permission or binding of the bundle uses the service account", "remove the file, or bind a role to it")
		}
	}
}

// ruleDeployments checks that the Deployments can be created.
func (c *content) ruleDeployments() {
	deployments := c.api.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	if deployments != nil && len(deployments) == 0 {
		c.own(c.csv, "deployments", deploymentsField, "the list is empty, so nothing would be installed", "add the operator's Deployment to the input of the bundle")
	}
	names := map[string]bool{}
	for i, deployment := range deployments {
		field := fmt.Sprintf("%s[%d]", deploymentsField, i)
		if names[deployment.Name] {
			c.own(c.csv, "deployments", field+".name", fmt.Sprintf("duplicate deployment %q", deployment.Name), "give each a unique name")
		}
		names[deployment.Name] = true
		selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
		switch {
		case deployment.Spec.Selector == nil || err == nil && selector.Empty():
			c.own(c.csv, "deployments", field+".spec.selector", "is missing", "write matchLabels that the pod template has")
		case err != nil:
			c.own(c.csv, "deployments", field+".spec.selector", err.Error(), "write matchLabels that the pod template has")
		case !selector.Matches(labels.Set(deployment.Spec.Template.Labels)):
			c.own(c.csv, "deployments", field+".spec.selector", "does not match the labels of the pod template", "write the labels of spec.template.metadata.labels")
		}
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			c.own(c.csv, "deployments", field+".spec.template.spec.containers", "there are no containers", "write the operator's container")
		}
		seen := map[string]bool{}
		for _, item := range containers(i, deployment) {
			if item.Image == "" {
				c.own(c.csv, "deployments", item.field+".image", "is missing", "write the image of the container")
			}
			if seen[item.Name] {
				c.own(c.csv, "deployments", item.field+".name", fmt.Sprintf("duplicate container %q in the pod", item.Name), "give each a unique name")
			}
			seen[item.Name] = true
		}
		for j, volume := range deployment.Spec.Template.Spec.Volumes {
			if volume.Secret != nil && len(c.api.CSV.Spec.WebhookDefinitions) > 0 && (volume.Name == "cert" || strings.HasSuffix(volume.Name, "-certs")) && strings.Contains(volume.Secret.SecretName, "cert") {
				c.own(c.csv, "certificates", fmt.Sprintf("%s.spec.template.spec.volumes[%d]", field, j),
					"mounts a certificate of cert-manager; OLM mounts its own, and the pod does not start without the Secret", "remove the volume and its mounts, or generate the bundle again")
			}
		}
	}
}

// ruleWebhooks checks the webhook definitions, which OLM uses unchanged.
func (c *content) ruleWebhooks() {
	spec := c.api.CSV.Spec
	names := map[string]bool{}
	for i, webhook := range spec.WebhookDefinitions {
		field := fmt.Sprintf("spec.webhookdefinitions[%d]", i)
		if !slices.ContainsFunc(spec.InstallStrategy.StrategySpec.DeploymentSpecs, func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == webhook.DeploymentName }) {
			c.own(c.csv, "webhooks", field+".deploymentName", fmt.Sprintf("there is no deployment %q", webhook.DeploymentName), "set the deployment that serves the webhook")
		}
		if names[webhook.GenerateName] {
			c.own(c.csv, "webhooks", field+".generateName", fmt.Sprintf("duplicate webhook name %q", webhook.GenerateName), "give each webhook a unique name")
		}
		names[webhook.GenerateName] = true
		for j, crd := range webhook.ConversionCRDs {
			if !slices.ContainsFunc(spec.CustomResourceDefinitions.Owned, func(o v1alpha1.CRDDescription) bool { return o.Name == crd }) {
				c.own(c.csv, "webhooks", fmt.Sprintf("%s.conversionCRDs[%d]", field, j), fmt.Sprintf("the operator does not own the CRD %q", crd), "set an owned CRD")
			}
		}
		if webhook.SideEffects == nil {
			c.own(c.csv, "webhooks", field+".sideEffects", "is missing", "write None")
		}
		if len(webhook.AdmissionReviewVersions) == 0 {
			c.own(c.csv, "webhooks", field+".admissionReviewVersions", "is missing", "write [v1]")
		}
	}
}
