package project

import (
	"reflect"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

func withResources(t *testing.T, resources ...Resource) *Config {
	t.Helper()
	c := newMemcached(t)
	for _, r := range resources {
		check(t, c.AddResource(r))
	}
	return c
}

func api(group, version, kind string) Resource {
	return Resource{
		GVK: GVK{group, "example.com", version, kind}, Plural: RegularPlural(kind),
		Path: "github.com/example/memcached-operator/api/" + version, API: &API{CRDVersion: "v1", Namespaced: true},
	}
}

func TestResolveResource(t *testing.T) {
	t.Parallel()
	mem := memcachedResource()
	noController := memcachedResource()
	noController.Controllers = nil
	twoControllers := memcachedResource()
	twoControllers.Controllers = []string{"memcached", "backup"}
	clusterScoped := memcachedResource()
	clusterScoped.API = &API{CRDVersion: "v1"}
	const certPath = "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certificate := Resource{
		GVK: GVK{"cert-manager", "io", "v1", "Certificate"}, Plural: "certificates", Path: certPath, External: true,
		Module: "github.com/cert-manager/cert-manager@v1.18.2", Controllers: []string{"certificate"},
	}
	deployment := Resource{
		GVK: GVK{"apps", "", "v1", "Deployment"}, Plural: "deployments", Path: "k8s.io/api/apps/v1", Core: true, Controllers: []string{"deployment"},
	}
	role := Resource{
		GVK: GVK{"rbac.authorization", "k8s.io", "v1", "Role"}, Plural: "roles", Path: "k8s.io/api/rbac/v1", Core: true, Controllers: []string{"role"},
	}
	batch := api("batch", "v1", "Job")
	withController := func(r Resource, names ...string) Resource { r.Controllers = names; return r }
	for _, test := range []struct {
		name string
		have []Resource
		o    ResourceOptions
		want Resource
	}{
		{"new API", nil, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", API: true, Controller: true, Namespaced: true}, mem},
		{"new API only", nil, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", API: true, Namespaced: true}, noController},
		{"controller later", []Resource{noController}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", Controller: true}, mem},
		{"second controller", []Resource{mem}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", Controller: true, ControllerName: "backup"}, twoControllers},
		{"forced", []Resource{twoControllers}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", API: true, Controller: true, Namespaced: true, Force: true}, twoControllers},
		{"existing, for a webhook", []Resource{mem}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached"}, mem},
		{"second version", []Resource{mem}, ResourceOptions{Group: "cache", Version: "v1", Kind: "Memcached", API: true, Namespaced: true}, api("cache", "v1", "Memcached")},
		{"second kind", []Resource{mem}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Redis", API: true, Namespaced: true}, api("cache", "v1alpha1", "Redis")},
		{"core", nil, ResourceOptions{Group: "apps", Version: "v1", Kind: "Deployment", Controller: true}, deployment},
		{"core beside an API", []Resource{mem}, ResourceOptions{Group: "rbac.authorization", Version: "v1", Kind: "Role", Controller: true}, role},
		{"API beside core", []Resource{deployment}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", API: true, Namespaced: true}, noController},
		{"core recorded with the peers' path", []Resource{{GVK: role.GVK, Plural: "roles", Path: "k8s.io/api/rbac.authorization/v1", Core: true}},
			ResourceOptions{Group: "rbac.authorization", Version: "v1", Kind: "Role", Controller: true}, role},
		{"own group of a core name", []Resource{batch}, ResourceOptions{Group: "batch", Version: "v1", Kind: "Job", Controller: true}, withController(batch, "job")},
		{"external", nil, ResourceOptions{Group: "cert-manager", Version: "v1", Kind: "Certificate", Controller: true, ExternalPath: certPath, ExternalDomain: "io",
			ExternalModule: "github.com/cert-manager/cert-manager@v1.18.2"}, certificate},
		{"external again", []Resource{certificate}, ResourceOptions{Group: "cert-manager", Version: "v1", Kind: "Certificate", Controller: true, ControllerName: "backup"},
			withController(certificate, "certificate", "backup")},
	} {
		got, findings := ResolveResource(withResources(t, test.have...), test.o)
		if len(findings) > 0 || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", test.name, got, findings, test.want)
		}
	}
}

func TestResolveFindings(t *testing.T) {
	t.Parallel()
	mem := memcachedResource()
	cache := func(kind string) ResourceOptions {
		return ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: kind, API: true, Namespaced: true}
	}
	change := func(o ResourceOptions, f func(*ResourceOptions)) ResourceOptions { f(&o); return o }
	chart := func(o ResourceOptions) ResourceOptions { o.NoTypes = true; return o }
	foreign := Resource{GVK: GVK{Group: "cache", Domain: "k8s.io", Version: "v1alpha1", Kind: "Service"}, Path: "k8s.io/api/core/v1", Controllers: []string{"service"}}
	person := api("cache", "v1alpha1", "Person")
	for _, test := range []struct {
		name string
		have []Resource
		o    ResourceOptions
		want []string
	}{
		{"all at once", nil, ResourceOptions{Group: "Cache", Version: "v1beta", Kind: "memcached", Plural: "A", API: true, Controller: true, ControllerName: "B"}, []string{
			`--group "Cache": must be in lower case; did you mean "cache"?`, `--version "v1beta": `, `--kind "memcached": `, `--plural "A": `, `--controller-name "B": `}},
		{"exists", []Resource{mem}, cache("Memcached"), []string{`--kind "Memcached": API cache.example.com/v1alpha1 Memcached already exists; pass --force`}},
		{"case", []Resource{mem}, cache("MemCached"), []string{`--kind "MemCached": differs from kind Memcached of cache.example.com/v1alpha1 only in case`}},
		{"list", []Resource{mem}, cache("MemcachedList"), []string{`--kind "MemcachedList": is the name of a type of kind Memcached`}},
		{"list of another version", []Resource{mem}, change(cache("MemcachedList"), func(o *ResourceOptions) { o.Version = "v1" }), []string{`--kind "MemcachedList": is the name of a type`}},
		{"before list", []Resource{api("cache", "v1", "MemcachedList")}, cache("Memcached"), []string{`--kind "Memcached": needs a type MemcachedList`}},
		{"spec", []Resource{mem}, cache("MemcachedSpec"), []string{`--kind "MemcachedSpec": is the name of a type`}},
		{"chart of that name", []Resource{mem}, chart(cache("MemcachedSpec")), nil},
		{"chart with the name of a list", []Resource{mem}, chart(cache("MemcachedList")), []string{`--kind "MemcachedList": is the name of a type`}},
		{"import alias", []Resource{foreign}, cache("Memcached"), []string{`--group "cache": Go code would import it as cachev1alpha1, which already is group cache.k8s.io`}},
		{"chart, which is not imported", []Resource{foreign}, chart(cache("Memcached")), nil},
		{"before status", []Resource{api("cache", "v1alpha1", "MemcachedStatus")}, cache("Memcached"), []string{`--kind "Memcached": needs a type MemcachedStatus`}},
		{"plural", []Resource{mem}, change(cache("Redis"), func(o *ResourceOptions) { o.Plural = "memcacheds" }), []string{`--plural "memcacheds": plural memcacheds is already used by kind Memcached`}},
		{"plural is a singular", []Resource{mem}, change(cache("Redis"), func(o *ResourceOptions) { o.Plural = "memcached" }), []string{`--plural "memcached": plural memcached is the singular of kind Memcached`}},
		{"regular plural", []Resource{person}, change(cache("Human"), func(o *ResourceOptions) { o.Plural = "people" }), []string{`--plural "people": plural people is already used by kind Person`}},
		{"singular is a plural", []Resource{person}, change(cache("People"), func(o *ResourceOptions) { o.Plural = "peoples" }), []string{`--kind "People": its singular people is the plural of kind Person`}},
		{"plural of versions", []Resource{mem}, change(cache("Memcached"), func(o *ResourceOptions) { o.Version, o.Plural = "v1", "memories" }), []string{`--plural "memories": version v1alpha1 of the kind has plural memcacheds`}},
		{"scope of versions", []Resource{mem}, change(cache("Memcached"), func(o *ResourceOptions) { o.Version, o.Namespaced = "v1", false }), []string{`--namespaced "false": version v1alpha1 of the kind has the other scope; all versions share one; did you mean "true"?`}},
		{"second group", []Resource{mem}, change(cache("Redis"), func(o *ResourceOptions) { o.Group = "store" }), []string{`--group "store": the project has group cache; run `}},
		{"has a controller", []Resource{mem}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", Controller: true}, []string{`--kind "Memcached": the project has a controller for it (memcached); name another`}},
		{"controller of another version", []Resource{mem}, change(cache("Memcached"), func(o *ResourceOptions) { o.Version, o.Controller = "v1", true }),
			[]string{`--kind "Memcached": controller memcached of cache.example.com/v1alpha1 Memcached has the same file, type or name; name this one`}},
		{"same controller name", []Resource{mem}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcached", Controller: true, ControllerName: "memcached"},
			[]string{`--controller-name "memcached": controller memcached of cache.example.com/v1alpha1 Memcached has`}},
		{"controller name gives the same type", []Resource{mem}, change(cache("Redis"), func(o *ResourceOptions) { o.Controller, o.ControllerName = true, "mem-cached" }),
			[]string{`--controller-name "mem-cached": controller memcached of`}},
		{"controller name without a controller", nil, change(cache("Redis"), func(o *ResourceOptions) { o.ControllerName = "x" }), []string{`--controller-name "x": cannot be combined with --controller=false`}},
		{"core version", nil, ResourceOptions{Group: "apps", Version: "v2", Kind: "Deployment", Controller: true}, []string{`--version "v2": Kubernetes has group apps in v1, v1beta2, v1beta1; did you mean "v1"?`}},
		{"core kind", nil, ResourceOptions{Group: "apps", Version: "v1", Kind: "Deploymnet", Controller: true}, []string{`--kind "Deploymnet": Kubernetes has no such kind in apps/v1 (it has ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet); did you mean "Deployment"?`}},
		{"core group in full", nil, ResourceOptions{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Controller: true}, []string{`--group "networking.k8s.io": is not a group of the project or of Kubernetes; did you mean "networking"?`}},
		{"core group by package", nil, ResourceOptions{Group: "rbac", Version: "v1", Kind: "Role", Controller: true}, []string{`--group "rbac": is not a group of the project or of Kubernetes; did you mean "rbac.authorization"?`}},
		{"no such API", []Resource{mem}, ResourceOptions{Group: "cache", Version: "v1alpha1", Kind: "Memcachd", Controller: true}, []string{`--kind "Memcachd": the project has no API cache.example.com/v1alpha1 Memcachd; create it with --resource, or pass the import path of its Go types with --external-api-path; did you mean "Memcached"?`}},
		{"external flags with an API", nil, change(cache("Redis"), func(o *ResourceOptions) { o.ExternalPath, o.ExternalDomain = "a.b/c", "io" }), []string{
			`--external-api-path "a.b/c": is for APIs of another module`, `--external-api-domain "io": is for APIs of another module`}},
		{"external without path", nil, ResourceOptions{Group: "a", Version: "v1", Kind: "B", ExternalDomain: "io"}, []string{`--external-api-domain "io": needs --external-api-path`}},
		{"external badly", nil, ResourceOptions{Group: "A", Version: "1", Kind: "b", ExternalPath: "https://a.b/c", ExternalDomain: "i_o", ExternalModule: "a.b@latest"}, []string{
			`--external-api-path "https://a.b/c": must be a Go import path, not a URL`, `--external-api-domain "i_o": must consist of`,
			`--external-api-module "a.b@latest": version "latest" must be an exact version`, `--group "A": must be in lower case`, `--version "1": must start with a letter; did you mean "v1"?`, `--kind "b": `}},
		{"external of another module", nil, ResourceOptions{Group: "a", Version: "v1", Kind: "B", ExternalPath: "a.b/c/v1", ExternalModule: "a.b/d"}, []string{`--external-api-module "a.b/d": does not contain the package`}},
		{"external is own", nil, ResourceOptions{Group: "a", Version: "v1", Kind: "B", ExternalPath: "github.com/example/memcached-operator/api/v1"}, []string{`--external-api-path "github.com/example/memcached-operator/api/v1": is a package of this project`}},
	} {
		_, findings := ResolveResource(withResources(t, test.have...), test.o)
		ok := len(findings) == len(test.want)
		for i := 0; ok && i < len(findings); i++ {
			ok = strings.HasPrefix(findings[i].Error(), test.want[i])
		}
		if !ok {
			t.Errorf("%s: got\n%v\nwant\n%s", test.name, findings, strings.Join(test.want, "\n"))
		}
	}
}

func TestResolveMultiGroup(t *testing.T) {
	t.Parallel()
	c := newMemcached(t)
	check(t, c.SetMultiGroup(true))
	o := ResourceOptions{Group: "my-cache", Version: "v1", Kind: "Memcached", API: true, Controller: true, Namespaced: true}
	r, findings := ResolveResource(c, o)
	if findings != nil || r.Path != "github.com/example/memcached-operator/api/my-cache/v1" || r.ImportAlias() != "mycachev1" ||
		r.ControllerName("", true) != "my-cache-memcached" {
		t.Fatalf("got %+v, %v", r, findings)
	}
	check(t, c.AddResource(r))
	o.Group = "store"
	if _, findings := ResolveResource(c, o); findings != nil {
		t.Errorf("a kind of another group: %v", findings)
	}
	o.Group = "mycache"
	if _, findings := ResolveResource(c, o); len(findings) != 2 || !strings.Contains(findings.Error(), "would import it as mycachev1, which already is group my-cache.example.com") ||
		!strings.Contains(findings.Error(), "its Go package mycache would have the name of the package of group my-cache") {
		t.Errorf("got %v", findings)
	}
	o.Group, o.Version, o.Kind, o.ControllerName = "my", "v1", "Other", "cache-memcached"
	if _, findings := ResolveResource(c, o); len(findings) != 1 || findings[0].Field != "--controller-name" {
		t.Errorf("the same name in logs: got %v", findings)
	}
}

func TestResourceNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		r     Resource
		alias string
	}{
		{api("cache", "v1alpha1", "X"), "cachev1alpha1"},
		{api("foo.my-policy", "v1", "X"), "foomypolicyv1"},
		{api("", "v1", "X"), "examplecomv1"},
		{api("apps", "v1", "X"), "appsv1api"},
		{api("apps", "v1beta1", "X"), "appsv1beta1"},
		{api("meta", "v1", "X"), "metav1api"},
		{api("webhook", "v1", "X"), "webhookv1api"},
		{Resource{GVK: GVK{"apps", "", "v1", "Deployment"}, Core: true}, "appsv1"},
	} {
		if got := test.r.ImportAlias(); got != test.alias {
			t.Errorf("%s: alias %s, want %s", test.r.GVK, got, test.alias)
		}
	}
	r := api("cache", "v1", "Captain")
	for name, want := range map[string]string{"": "Captain", "captain": "Captain", "captain-backup": "CaptainBackup", "x": "X"} {
		if got := r.ReconcilerName(name); got != want {
			t.Errorf("%q: reconciler %s, want %s", name, got, want)
		}
	}
}

// The table of Kubernetes' types against the modules that hold them.
func TestCoreVersions(t *testing.T) {
	t.Parallel()
	all := runtime.NewScheme()
	check(t, scheme.AddToScheme(all))
	check(t, apiextensions.AddToScheme(all))
	found := map[schema.GroupVersionKind]bool{}
	for _, v := range coreVersions {
		for kind := range strings.FieldsSeq(v.kinds) {
			gvk := schema.GroupVersionKind{Group: v.apiGroup(), Version: v.version, Kind: kind}
			typ, ok := all.AllKnownTypes()[gvk]
			if !ok || typ.PkgPath() != v.path() {
				t.Errorf("%s: package %v, in the table %s", gvk, typ, v.path())
				continue
			}
			found[gvk] = true
			if plural, _ := meta.UnsafeGuessKindToResource(gvk); plural.Resource != RegularPlural(kind) {
				t.Errorf("%s: plural %s, Kubernetes has %s", gvk, RegularPlural(kind), plural.Resource)
			}
		}
	}
	for gvk, typ := range all.AllKnownTypes() {
		_, isObject := typ.FieldByName("ObjectMeta")
		_, hasList := all.AllKnownTypes()[gvk.GroupVersion().WithKind(gvk.Kind+"List")]
		if isObject && hasList && gvk.Version != runtime.APIVersionInternal && !found[gvk] {
			if gvk.Group == "apiextensions.k8s.io" && gvk.Version == "v1beta1" {
				continue
			}
			t.Errorf("%s is missing", gvk)
		}
	}
}
