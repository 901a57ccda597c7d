package main

import "strings"

// A sample is a project of the matrix: the flags of init, and the commands after it.
type sample struct {
	name, init string
	commands   []string
}

// matrix lists projects with all flags of kubebuilder that change files. The names are no words of scaffolds, so that they can be told
// from these. Commands that a release does not have are left out. "alpha generate" and "alpha update" write what other commands write, and
// "edit --plugins helm/v2-alpha" runs make, so that they are not in it.
func matrix() []sample {
	const (
		api     = "create api --group %g --version %v --kind %k --resource --controller"
		image   = "create api --group %g --version %v --kind %k --plugins deploy-image/v1-alpha --manifests=false --image "
		types   = "create api --group %g --version %v --kind %k --resource --controller=false"
		both    = "create webhook --group %g --version %v --kind %k --defaulting --programmatic-validation"
		hub     = "create webhook --group %g --version %v --kind %k --conversion --spoke v2"
		foreign = " --external-api-path github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 --external-api-domain io"
		module  = " --external-api-module github.com/cert-manager/cert-manager@v1.18.2"
	)
	of := func(command, group, version, kind string) string {
		return strings.NewReplacer("%g", group, "%v", version, "%k", kind).Replace(command)
	}
	several := []string{
		of(api, "fleet", "v1", "Frigate"),
		of(both, "fleet", "v1", "Frigate"),
		of(types, "fleet", "v2", "Frigate"),
		of(hub, "fleet", "v1", "Frigate"),
		of(api, "fleet", "v1", "Kraken") + " --plural krakens --namespaced=false",
		of("create webhook --group %g --version %v --kind %k --defaulting --defaulting-path /mutate-it", "fleet", "v1", "Kraken"),
		of("create api --group %g --version %v --kind %k --resource=false --controller", "apps", "v1", "Deployment"),
		of("create webhook --group %g --version %v --kind %k --programmatic-validation", "core", "v1", "Pod"),
		of("create api --group %g --version %v --kind %k --resource=false --controller", "cert-manager", "v1", "Certificate") + foreign + module,
		of("create webhook --group %g --version %v --kind %k --defaulting", "cert-manager", "v1", "Issuer") + foreign + module,
		of("create api --group %g --version %v --kind %k --resource=false --controller", "cert-manager", "v1", "CertificateRequest") + foreign,
	}
	return []sample{
		{"one group", "", append(several,
			of("create api --group %g --version %v --kind %k --resource=false --controller --controller-name kraken-watch", "fleet", "v1", "Kraken"))},
		{"new groups", "--multigroup", []string{of(api, "fleet", "v1", "Frigate")}},
		{"groups", "", append(append([]string{"edit --multigroup"}, several...), of(api, "harbor", "v1beta1", "Crane"), of(both, "harbor", "v1beta1", "Crane"))},
		{"namespace", "--namespaced", []string{of(api, "fleet", "v1", "Frigate"), of(both, "fleet", "v1", "Frigate")}},
		{"validation first", "", []string{
			of(api, "fleet", "v1", "Frigate"),
			of("create webhook --group %g --version %v --kind %k --programmatic-validation", "fleet", "v1", "Frigate"),
			of(types, "fleet", "v2", "Frigate"), of(hub, "fleet", "v1", "Frigate"),
			of(api, "fleet", "v1", "Kraken"), of(both, "fleet", "v1", "Kraken"),
		}},
		{"conversion first", "", []string{
			of(api, "fleet", "v1", "Frigate"), of(types, "fleet", "v2", "Frigate"), of(hub, "fleet", "v1", "Frigate"),
			of("create webhook --group %g --version %v --kind %k --defaulting", "fleet", "v1", "Frigate"),
		}},
		{"types first", "", []string{of(types, "fleet", "v1", "Frigate"), of(api, "fleet", "v1", "Kraken") + " --ssa"}},
		{"core first", "", []string{
			of("create webhook --group %g --version %v --kind %k --programmatic-validation", "core", "v1", "Pod"),
			of("create api --group %g --version %v --kind %k --resource=false --controller", "apps", "v1", "Deployment"),
		}},
		{"images", "", []string{
			of(image, "fleet", "v1", "Frigate") + "memcached:1.6.26-alpine3.19" +
				" --image-container-command memcached,--memory-limit=64,-o,modern,-v --image-container-port 11211 --run-as-user 1001",
			of(image, "fleet", "v1", "Kraken") + "busybox:1.36.1",
			of("create webhook --group %g --version %v --kind %k --programmatic-validation", "fleet", "v1", "Frigate"),
		}},
		{"images in groups", "", []string{
			"edit --multigroup", of(image, "fleet", "v1", "Frigate") + "busybox:1.36.1",
		}},
		{"images in a namespace", "--namespaced --multigroup", []string{
			of(image, "fleet", "v1", "Frigate") + "memcached:1.6.26-alpine3.19 --image-container-port 11211 --run-as-user 1001",
		}},
		{"plurals", "", []string{
			of(api, "fleet", "v1", "Frigate") + " --plural frigatez", of(both, "fleet", "v1", "Frigate") + " --plural frigatez",
			of(image, "fleet", "v2", "Kraken") + "busybox:1.36.1",
		}},
		{"edited", "", []string{
			of(api, "fleet", "v1", "Frigate"), of(both, "fleet", "v1", "Frigate"),
			"edit --multigroup", of(api, "harbor", "v1beta1", "Crane"), of(both, "harbor", "v1beta1", "Crane"),
			"edit --namespaced", of(api, "harbor", "v1beta1", "Dock"),
			"edit --namespaced=false", "edit --license none",
		}},
		{"dashboards", "--plugins go/v4,grafana/v1-alpha", []string{
			of(api, "fleet", "v1", "Frigate"), "edit --plugins autoupdate/v1-alpha", of(both, "fleet", "v1", "Frigate"),
		}},
		{"chart", "--plugins go/v4,helm/v2-alpha", []string{of(api, "fleet", "v1", "Frigate"), of(both, "fleet", "v1", "Frigate")}},
		{"edited plugins", "", []string{
			of(api, "fleet", "v1", "Frigate"), "edit --plugins grafana/v1-alpha", of(both, "fleet", "v1", "Frigate"),
		}},
	}
}

// arguments returns the arguments of a command of the matrix. Nothing is generated.
func arguments(command string) []string {
	args := strings.Fields(command)
	if args[0] == "create" {
		args = append(args, "--make=false")
	}
	return args
}
