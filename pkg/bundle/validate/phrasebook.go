package validate

import "regexp"

// A phrase maps a message of a validator to its field and fix.
type phrase struct {
	message *regexp.Regexp
	rule    string
	// path is the path of the field in the CSV; $1 is the first group of the message.
	path string
	// text replaces messages that use Go names or lack detail.
	text string
	fix  string
}

// A phrasebook holds what is known about the messages of validators. It is created once for all bundles of a call, at the
// first message.
type phrasebook struct {
	// known lists messages that name no field, or its Go name.
	known []phrase
	// quoted matches the parts in which messages of one kind differ.
	quoted *regexp.Regexp
	// apiLists matches the list of a message about removed APIs; removedIn, removedList and removedCSV match its parts.
	apiLists, removedIn, removedList, removedCSV *regexp.Regexp
}

func newPhrasebook() *phrasebook {
	re := regexp.MustCompile
	return &phrasebook{
		quoted:      re(`"[^"]*"|provided annotation \S+|should be \S+|example annotation: .*`),
		apiLists:    re(`\w+: \(\[[^\]]*\]\)(,\w+: \(\[[^\]]*\]\))*,?`),
		removedIn:   re(`removed in (v[\d.]+)\.`),
		removedList: re(`(\w+): \(\["([^"]*)"`),
		removedCSV:  re(`^ClusterServiceVersion\.Spec\.(\w+)\.(\w+)\.?(\w*)\[(\d+)\]\.(\w+)\[(\d+)\]`),
		known: []phrase{
			{re(`^metadata\.name "`), "csv-name", "metadata.name", "", "write lower-case letters, digits, '-' and '.', at most 63 of them, such as memcached-operator.v0.0.1"},
			{re(`^spec\.replaces "`), "csv-replaces", "spec.replaces", "", "write the name of the replaced CSV, such as memcached-operator.v0.0.1"},
			{re(`^(example )?annotations not found`), "examples", "metadata.annotations", "there are no examples of the custom resources", "add samples below config/samples and generate the bundle again, or write the annotation alm-examples"},
			{re("^both `alm-examples` and"), "examples", `metadata.annotations["olm.examples"]`, "", "keep alm-examples only"},
			{re(`^invalid example`), "examples", "metadata.annotations.alm-examples", "", "write a JSON list of custom resources"},
			{re(`^error decoding example`), "examples", "metadata.annotations.alm-examples", "must be a JSON list of custom resources", "put the example into brackets: [ … ]"},
			{re(`^example must have a provided API`), "examples", "metadata.annotations.alm-examples", "", "remove the example, or list its CRD below spec.customresourcedefinitions.owned"},
			{re(`^provided API should have an example`), "examples", "metadata.annotations.alm-examples", "", "add a sample of the kind to config/samples and generate the bundle again"},
			{re(`^couldn't parse plural.group from crd name: (.*)`), "owned-crds", "spec.customresourcedefinitions.owned", "$1 is not a CRD name", "write <plural>.<group>"},
			{re(`^install modes not found`), "install-modes", "spec.installModes", "there are no install modes", "list OwnNamespace, SingleNamespace, MultiNamespace and AllNamespaces, each with supported: true or false"},
			{re(`^none of InstallModeTypes`), "install-modes", "spec.installModes", "no install mode is supported, so the operator cannot be installed", "write supported: true for at least one of them"},
			{re(`^duplicate install modes`), "install-modes", "spec.installModes", "", "list each install mode once"},
			{re(`^only AllNamespaces InstallModeType`), "install-modes", "spec.installModes", "operators with conversion webhooks support only AllNamespaces", "write supported: true for AllNamespaces and supported: false for all others"},
			{re(`minKubeVersion`), "min-kube-version", "spec.minKubeVersion", "", "write the oldest Kubernetes version that the operator runs on, such as minKubeVersion: 1.28.0"},
			{re(`MinKubeVersion has an invalid value: (.*)`), "min-kube-version", "spec.minKubeVersion", "$1 is not a semantic version", "write MAJOR.MINOR.PATCH, such as 1.28.0"},
			{re(`MinKubeVersion`), "min-kube-version", "spec.minKubeVersion", "", "write MAJOR.MINOR.PATCH, such as 1.28.0"},
			{re(`^provided annotation (\S+) uses wrong case and should be (\S+) instead`), "annotation-case", `metadata.annotations["$1"]`, "the annotation is case-sensitive", "write $2"},
			{re(`^found olm\.properties annotation`), "properties", `metadata.annotations["olm.properties"]`, "", "write the properties into metadata/properties.yaml"},
			{re(`^'(apiVersion|kind)' is missing`), "csv", "$1", "", "write apiVersion: operators.coreos.com/v1alpha1 and kind: ClusterServiceVersion"},
			{re(`^relatedImages\[(\d+)\]`), "related-images", "spec.relatedImages[$1].image", "", "write the image as registry/repository:tag or registry/repository@sha256:…"},
			{re(`^bundle name with release versioning`), "release", "spec.release", "name, version and release do not match", "name the CSV <package>-v<version>-<release>, or remove the release"},
			{re(`^maximum bundle compressed size`), "size", "", "", "shorten descriptions and examples, remove descriptions from the CRDs, or use a smaller icon"},
			{re(`^nearing maximum bundle compressed size`), "size", "", "", "shorten descriptions and examples, remove descriptions from the CRDs, or use a smaller icon"},
			{re(`^csv\.Spec\.Provider\.Name not specified`), "provider", "spec.provider.name", "is missing", "write who provides the operator"},
			{re(`^csv\.Spec\.Maintainers elements`), "maintainers", "spec.maintainers", "each maintainer has a name and an email", "write both"},
			{re(`^csv\.Spec\.Maintainers email (.*) is invalid`), "maintainers", "spec.maintainers", "", "write an address such as team@example.com"},
			{re(`^csv\.Spec\.Links elements`), "links", "spec.links", "each link has a name and a url", "write both"},
			{re(`^csv\.Spec\.Links url (.*) is invalid`), "links", "spec.links", "", "write a complete URL, such as https://example.com"},
			{re(`^csv\.Spec\.Version must be set`), "csv-version", "spec.version", "must be set, and not to 0.0.0", "write the version of the bundle, such as 1.2.0"},
			{re(`^csv\.Spec\.Icon not specified`), "icon", "spec.icon", "is missing", "add one icon with base64data and mediatype"},
			{re(`^csv\.Spec\.Icon should only have one`), "icon", "spec.icon", "there is more than one icon", "keep one"},
			{re(`^csv\.Spec\.Icon elements should`), "icon", "spec.icon[0]", "an icon has base64data and mediatype", "write both"},
			{re(`^csv\.Spec\.Icon (\S+) does not have`), "icon", "spec.icon[0].mediatype", "$1 is not a media type of icons", "write image/svg+xml, image/png, image/jpeg or image/gif"},
			{re(`^csv\.Metadata\.Annotations\.Capabilities (".*") is not`), "capabilities", "metadata.annotations.capabilities", "$1 is not a capability level", "write Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot"},
			{re(`^csv\.Metadata\.Annotations\["categories"\] value (".*") is not in the set of (\w+)`), "categories", "metadata.annotations.categories", "$1 is not one of the $2 categories", "choose from the categories, with commas between them"},
			{re(`custom categories`), "categories", "metadata.annotations.categories", "", "correct the file that OPERATOR_BUNDLE_CATEGORIES names"},
			{re(`^unable to find a deployment`), "deployments", "spec.install.spec.deployments", "there is no deployment to install", "add the operator's Deployment to the input of the bundle"},
			{re(`^unable to find the resource requests for the container: \((.*?)\)`), "resource-requests", "spec.install.spec.deployments", "container $1 has no resource requests, without which a quota may reject its pods", "write resources.requests with cpu and memory at the container $1"},
			{re(`^owned CRD "(\S+)" has an empty description`), "crd-description", "spec.customresourcedefinitions.owned", "", "describe the kind in the comment above its Go type, and generate the bundle again"},
			{re(`^required CRD "(\S+)" has an empty description`), "crd-description", "spec.customresourcedefinitions.required", "", "describe why the operator needs the kind"},
			{re(`^csv\.metadata\.Name (\S+) is not`), "csv-name", "metadata.name", "", "name the CSV <package>.v<version>, such as memcached-operator.v0.0.1"},
			{re(`^CSV contains permissions to create CRD`), "rbac-crds", "spec.install.spec", "", "let OLM install CRDs, and remove create and patch of customresourcedefinitions from the rules"},
			{re(`^channel\(s\)`), "channel-name", "", "", "start channel names with candidate, fast or stable"},
			{re(`invalid value informed via the k8s key`), "k8s-version", "", "", "pass --optional-values=k8s-version=1.30"},
			{re(`^invalid value \(\S+\) for \(crane|^invalid value \(container-tools`), "container-tools", "", "", "pass --optional-values=container-tools=docker, podman or none"},
			{re(`operatorframework\.io/(arch|os)\.`), "multiarch", "metadata.labels", "", "label the CSV operatorframework.io/$1.<value>: supported for all platforms of the images"},
			{re(`node affinity`), "multiarch", "spec.install.spec.deployments", "", "list the platforms of the image in the pod's node affinity"},
			{re(`^unable to inspect the image`), "multiarch", "spec.install.spec.deployments", "", "install the container tool, log in to the registry, and try again"},
			{re(`CSV labels|should not support`), "multiarch", "metadata.labels", "", "label the CSV with the platforms that all of its images support"},
			{re(`^The "operatorhub" validator is deprecated`), "operatorhub", "", "the validator operatorhub is deprecated", "select operatorhubv2, capabilities and categories"},
			{re(`olm\.maxOpenShiftVersion`), "removed-api", "metadata.annotations", "", "move the objects to the APIs that replaced the removed ones"},
			{re(`index image|index-path|com\.redhat\.openshift\.versions`), "removed-api", "metadata.annotations", "", "move the objects to the APIs that replaced the removed ones"},
		},
	}
}
