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

// ruleIcon checks the icon, which the default validators leave alone.
func (c *content) ruleIcon() {
	icons := c.api.CSV.Spec.Icon
	if len(icons) == 0 {
		c.own(c.csv, "icon", "spec.icon", "is missing, and consoles show the operator without a picture", "add an icon with base64data and mediatype; an SVG of a few lines will do")
		return
	}
	for i, icon := range icons {
		field := fmt.Sprintf("spec.icon[%d]", i)
		switch data, err := base64.StdEncoding.DecodeString(icon.Data); {
		case icon.Data == "":
			c.own(c.csv, "icon", field+".base64data", "is empty", "write the icon's bytes in base64: base64 -w0 icon.svg")
		case err != nil:
			c.own(c.csv, "icon", field+".base64data", "is no base64", "write the icon's bytes in base64: base64 -w0 icon.svg")
		case icon.MediaType == "image/png" && !strings.HasPrefix(string(data), "\x89PNG"),
			icon.MediaType == "image/gif" && !strings.HasPrefix(string(data), "GIF"),
			icon.MediaType == "image/jpeg" && !strings.HasPrefix(string(data), "\xff\xd8"),
			icon.MediaType == "image/svg+xml" && !strings.Contains(string(data), "<svg"):
			c.own(c.csv, "icon", field+".mediatype", "does not fit the data, which is no "+icon.MediaType, "write the media type that the data has")
		case icon.MediaType == "":
			c.own(c.csv, "icon", field+".mediatype", "is missing", "write image/svg+xml or what the data is")
		}
	}
}

// container is a container of a deployment, with its place.
type container struct {
	corev1.Container
	field string
}

const deploymentsField = "spec.install.spec.deployments"

// containers are those of a deployment, in order.
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

// ruleImages checks that images say which they are.
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
			c.own(c.csv, "image-placeholder", field, fmt.Sprintf("%q is the image that the scaffold stands in with", image), "give the image of the operator: make bundle IMG=registry/repository:tag")
		case tag == "":
			c.own(c.csv, "image-tag", field, fmt.Sprintf("%q has neither tag nor digest", image), "write "+image+":<version>, or pin it by digest")
		case tag == "latest":
			c.own(c.csv, "image-latest", field, fmt.Sprintf("%q is another image every day", image), "write the tag of a version, or pin the image by digest")
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
				c.own(c.csv, "permissions", field+".serviceAccountName", "is missing, and nobody gets the permissions", "name the service account of the deployment")
			}
			if len(permission.Rules) == 0 {
				c.own(c.csv, "permissions", field+".rules", "there are no rules", "take the entry out, or list the rules")
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

// rules checks rules of access.
func (c *content) rules(obj manifest.Object, field string, rules []rbacv1.PolicyRule) {
	for i, rule := range rules {
		at := fmt.Sprintf("%s[%d]", field, i)
		if len(rule.Verbs) == 0 {
			c.own(obj, "permissions", at+".verbs", "there are no verbs, so that the rule permits nothing", "list what the operator does: get, list, watch, create, update, patch, delete")
		}
		if len(rule.NonResourceURLs) > 0 && len(rule.Resources) > 0 {
			c.own(obj, "permissions", at, "a rule is about resources or about nonResourceURLs, never both", "write two rules")
		}
		if len(rule.NonResourceURLs) == 0 && len(rule.Resources) == 0 {
			c.own(obj, "permissions", at+".resources", "there are no resources", "list the resources")
		}
		for _, part := range []struct {
			name   string
			values []string
		}{{"apiGroups", rule.APIGroups}, {"resources", rule.Resources}, {"verbs", rule.Verbs}} {
			if slices.Contains(part.values, "*") {
				c.own(obj, "rbac-wildcard", at+"."+part.name, "the wildcard permits all that there is and will be", "list the "+part.name+" that the operator needs")
			}
		}
	}
}

// ruleAccounts finds permissions that no pod gets, and accounts that nothing uses.
func (c *content) ruleAccounts() {
	strategy := c.api.CSV.Spec.InstallStrategy.StrategySpec
	if len(strategy.DeploymentSpecs) == 0 {
		return // which is said elsewhere
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
					fmt.Sprintf("no deployment runs under the service account %q, so that no pod of the operator gets the permissions", name),
					"name the account of the deployment: "+strings.Join(slices.Sorted(maps.Keys(used)), ", "))
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
			c.own(obj, "service-account-unused", "metadata.name", "no deployment, permission or binding of the bundle uses the service account", "take the file out, or bind a role to it")
		}
	}
}

// ruleDeployments checks that the deployments can be made.
func (c *content) ruleDeployments() {
	deployments := c.api.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	if deployments != nil && len(deployments) == 0 {
		c.own(c.csv, "deployments", deploymentsField, "the list is empty, and nothing would be installed", "add the operator's Deployment to what the bundle is made from")
	}
	names := map[string]bool{}
	for i, deployment := range deployments {
		field := fmt.Sprintf("%s[%d]", deploymentsField, i)
		if names[deployment.Name] {
			c.own(c.csv, "deployments", field+".name", fmt.Sprintf("there are two deployments %q, and a namespace holds one", deployment.Name), "give each a name of its own")
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
				c.own(c.csv, "deployments", item.field+".name", fmt.Sprintf("there are two containers %q in the pod", item.Name), "give each a name of its own")
			}
			seen[item.Name] = true
		}
		for j, volume := range deployment.Spec.Template.Spec.Volumes {
			if volume.Secret != nil && len(c.api.CSV.Spec.WebhookDefinitions) > 0 && (volume.Name == "cert" || strings.HasSuffix(volume.Name, "-certs")) && strings.Contains(volume.Secret.SecretName, "cert") {
				c.own(c.csv, "certificates", fmt.Sprintf("%s.spec.template.spec.volumes[%d]", field, j),
					"mounts a certificate that cert-manager would make; OLM mounts its own, and the pod never starts without the Secret", "take the volume and its mounts out, or generate the bundle again")
			}
		}
	}
}

// ruleWebhooks checks the webhook definitions, which OLM uses as they are.
func (c *content) ruleWebhooks() {
	spec := c.api.CSV.Spec
	names := map[string]bool{}
	for i, webhook := range spec.WebhookDefinitions {
		field := fmt.Sprintf("spec.webhookdefinitions[%d]", i)
		if !slices.ContainsFunc(spec.InstallStrategy.StrategySpec.DeploymentSpecs, func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == webhook.DeploymentName }) {
			c.own(c.csv, "webhooks", field+".deploymentName", fmt.Sprintf("there is no deployment %q", webhook.DeploymentName), "name the deployment that serves the webhook")
		}
		if names[webhook.GenerateName] {
			c.own(c.csv, "webhooks", field+".generateName", fmt.Sprintf("%q is the name of another webhook too", webhook.GenerateName), "give each webhook a name of its own")
		}
		names[webhook.GenerateName] = true
		for j, crd := range webhook.ConversionCRDs {
			if !slices.ContainsFunc(spec.CustomResourceDefinitions.Owned, func(o v1alpha1.CRDDescription) bool { return o.Name == crd }) {
				c.own(c.csv, "webhooks", fmt.Sprintf("%s.conversionCRDs[%d]", field, j), fmt.Sprintf("the operator does not own a CRD %q", crd), "name an owned CRD")
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
