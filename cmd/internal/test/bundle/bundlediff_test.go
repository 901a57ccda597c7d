package bundle

// bundleDifferences lists the cases in which Operon deliberately does not do what operator-sdk did.
func bundleDifferences() map[string]bundleDifference {
	const olm = "what OLM makes itself is taken out of the bundle: the webhooks' Service, and volumes with certificates of cert-manager"
	return map[string]bundleDifference{
		"01-scaffold-memcached":              {reason: olm},
		"02-scaffold-multiversion-webhooks":  {reason: olm},
		"18-webhooks-all-kinds":              {reason: olm + ", and its annotations"},
		"20-webhooks-conversion-groups":      {reason: olm + "; port 443 is the same port whether it is named or not"},
		"09-binding-mixed-subjects":          {reason: "no binding dangles, and an account of another namespace is not the operator's"},
		"10-rbac-same-name-two-namespaces":   {reason: "a RoleBinding means the Role of its own namespace"},
		"11-rbac-role-bound-twice":           {reason: "the rules are there once, instead of a panic", accepted: true},
		"12-rbac-clusterrole-bound-twice":    {reason: "the rules are there once"},
		"13-rbac-role-and-clusterrole-alike": {reason: "a ClusterRole is not a duplicate of a Role with the same content"},
		"14-rbac-aggregated-clusterrole":     {reason: "the rules that the role aggregates reach the CSV"},
		"16-required-crds":                   {reason: "a required CRD is not owned"},
		"19-webhooks-odd-services":           {refused: `(?s)wrongport.*gate-guard-service.*no selector.*matches no Deployment.*ExternalName.*URL`, reason: "OLM refuses webhooks without a Deployment behind them"},
		"23-duplicate-objects":               {refused: `ConfigMap other/pulse-config and ConfigMap pulse-config at stdin:\d+ have the same name`, reason: "a namespace holds one object of a name"},
		"24-list-of-objects":                 {reason: "a List is unpacked"},
		"26-regenerate-overwrite":            {reason: "hand-made annotations and labels stay, and manifests that are no longer generated are removed"},
		"31-metadata-only":                   {reason: "hand-made annotations stay"},
		"34-base-with-user-fields":           {reason: "hand-made examples, related images and webhooks stay where the input offers nothing in their place"},
		"37-base-without-annotations":        {reason: "annotations are made, instead of a panic", accepted: true},
		"39-base-other-name-in-stdin":        {refused: `stdin:7:3: the base CSV is named comet-operator.v0.0.0`, reason: "a base that is not the package's is not passed over"},
		"44-crds-dir-alone":                  {refused: `--deploy-dir`, reason: "no bundle without a Deployment"},
		"48-input-dir-odd-files":             {refused: `deploy/role.yaml:8: is not valid YAML`, reason: "no manifest is passed over"},
		"52-layout-unknown-plugin":           {reason: "no plugin is needed to make a bundle", accepted: true},
		"53-layout-chain-panics":             {reason: "no plugin is needed to make a bundle", accepted: true},
		"54-stdout":                          {reason: "--stdout writes nothing to disk"},
		"64-stdin-regular-file":              {reason: "stdin may be a file", accepted: true},
		"68-empty-stdin":                     {refused: `stdin: is empty`, reason: "no bundle of nothing"},
		"70-related-images-collisions":       {reason: "an image keeps its first name"},
		"73-identical-deployments":           {refused: `stdin:\d+: Deployment moth-operator is defined a second time`, reason: "a namespace holds one Deployment of a name"},
		"76-stdin-broken-yaml":               {refused: `stdin:50: is not valid YAML.*tab`, reason: "no document is passed over"},
		"80-image-digests-already-pinned":    {reason: "the CSV keeps its YAML style"},
		"81-deployment-legacy-account-field": {reason: "serviceAccount is serviceAccountName's old name"},

		// Cases 82 and later were made for Operon.
		"90-webhooks-alike":       {reason: "a mutating webhook is not a duplicate of a validating one with the same content; see case 13 for roles"},
		"99-scorecard-input-dir":  {reason: "the annotations state that a bundle has a scorecard configuration; operator-sdk searches --input-dir instead of the bundle"},
		"100-overwrite-input-dir": {reason: "--overwrite=false is about the bundle's metadata; operator-sdk looks for them in --input-dir, and loses the bundle's"},
	}
}
