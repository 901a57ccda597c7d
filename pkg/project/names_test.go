package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

// nameCase is a value with the beginning of its problem (empty: valid) and the suggestion.
type nameCase struct{ value, problem, suggestion string }

func checkNames(t *testing.T, field string, validate func(string) diag.Findings, cases []nameCase) {
	t.Helper()
	for _, test := range cases {
		findings := validate(test.value)
		if test.problem == "" {
			if len(findings) > 0 {
				t.Errorf("%s %q: %v", field, test.value, findings)
			}
			continue
		}
		if len(findings) != 1 || !strings.HasPrefix(findings[0].Problem, test.problem) || findings[0].Suggestion != test.suggestion ||
			findings[0].Field != field || findings[0].Value != test.value {
			t.Errorf("%s %q: got %q, want %q with suggestion %q", field, test.value, findings, test.problem, test.suggestion)
		}
		if len(findings) == 1 && findings[0].Suggestion != "" {
			if again := validate(findings[0].Suggestion); len(again) > 0 {
				t.Errorf("%s %q: the suggestion is no better: %v", field, test.value, again)
			}
		}
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	findings := slices.Concat(CheckKind("memcached"), CheckVersion("v1beta"), CheckPort("x"))
	const want = `--kind "memcached": must start with an upper-case letter; did you mean "Memcached"?
--version "v1beta": must be v and a number, followed by alpha or beta and a number if it may change (v1, v1beta1, v1alpha1); did you mean "v1beta1"?
--image-container-port "x": must be a number from 1 to 65535`
	if got := findings.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := (diag.Findings{}).Err(); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestCheckDomain(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	checkNames(t, "--domain", CheckDomain, []nameCase{
		{"example.com", "", ""},
		{"my.domain", "", ""},
		{"io", "", ""},
		{"xn--bcher-kva.example", "", ""},
		{"10.0.0.1", "", ""},
		{label + ".com", "", ""},
		{"", "is required", ""},
		{"Exa_mple", "must be in lower case", "exa-mple"},
		{"exa_mple", "must consist of", "exa-mple"},
		{"http://example.com", "must be a name, not a URL", "example.com"},
		{"https://user@example.com:8443/path?q", "must be a name, not a URL", "example.com"},
		{"example.com:8080", "must consist of", "example.com"},
		{"example.com/path", "must consist of", "example.com"},
		{"me@example.com", "must consist of", "example.com"},
		{"example..com", "must not have an empty part", "example.com"},
		{"example.com.", "must not start or end with a dot", "example.com"},
		{".example.com", "must not start or end with a dot", "example.com"},
		{"Example.COM", "must be in lower case", "example.com"},
		{"my domain.com", "must not contain spaces", "my-domain.com"},
		{" example.com", "must not contain spaces", "example.com"},
		{"exämple.com", "must consist of lower-case letters, digits, '-' and '.', not 'ä'; other letters", ""},
		{"-example.com", `part "-example" must start and end`, "example.com"},
		{"example-.com", `part "example-" must start and end`, "example.com"},
		{"*.example.com", "must consist of", "example.com"},
		{label + "a.com", `part "` + label + `a" must not be longer than 63 characters (it has 64)`, label + ".com"},
		{strings.Repeat("abc.", 63) + "com", "must not be longer than 253 characters (it has 255)", ""},
		{"..", "must not start or end with a dot", ""},
		{"a\nb.com", "must consist of", "ab.com"},
	})
}

func TestCheckProjectName(t *testing.T) {
	t.Parallel()
	checkNames(t, "--project-name", CheckProjectName, []nameCase{
		{"memcached-operator", "", ""},
		{"001", "", ""},
		{strings.Repeat("a", 63), "", ""},
		{"", "is required", ""},
		{"Memcached", "must be in lower case", "memcached"},
		{"my_op", "must consist of", "my-op"},
		{"my.op", "must consist of", "my-op"},
		{"my op", "must not contain spaces", "my-op"},
		{"-op-", "must start and end", "op"},
		{strings.Repeat("a", 64), "must not be longer than 63 characters (it has 64)", strings.Repeat("a", 63)},
		{"größe", "must consist of", ""},
	})
}

func TestProjectNameFromDir(t *testing.T) {
	t.Parallel()
	if name, findings := ProjectNameFromDir("Memcached-Operator"); name != "memcached-operator" || findings != nil {
		t.Errorf("got %q, %v", name, findings)
	}
	for base, want := range map[string]string{
		"tmp.Xyz": `--project-name "tmp.Xyz": the directory name is not a valid project name: must consist of lower-case letters, digits and '-', not '.'; choose one with --project-name; did you mean "tmp-xyz"?`,
		"/":       `--project-name is required: the directory has no name`,
		".":       `--project-name is required: the directory has no name`,
		"":        `--project-name is required: the directory has no name`,
	} {
		if name, findings := ProjectNameFromDir(base); name != "" || findings.Error() != want {
			t.Errorf("%q: got %q, %v", base, name, findings)
		}
	}
}

func TestCheckRepo(t *testing.T) {
	t.Parallel()
	const suffix = "must not end in that version"
	checkNames(t, "--repo", CheckRepo, []nameCase{
		{"github.com/example/memcached-operator", "", ""},
		{"github.com/Example/Upper", "", ""},
		{"example.com/x/v2", "", ""},
		{"gopkg.in/x.v1", "", ""},
		{"app", "", ""},
		{"app/sub", "", ""},
		{"example.com", "", ""},
		{"", "is required", ""},
		{"https://github.com/example/x.git", "must be a Go module path, not a URL", "github.com/example/x"},
		{"git@github.com:example/x.git", "must be a Go module path, not a git URL", "github.com/example/x"},
		{"github.com/example/x.git", "must be a Go module path, without .git", "github.com/example/x"},
		{"github.com/example/my op", "must not contain spaces", "github.com/example/my-op"},
		{"github.com/example/x/", "is not a valid Go module path: trailing slash", "github.com/example/x"},
		{"github.com//x", "is not a valid Go module path: double slash", "github.com/x"},
		{"github.com/../x", "is not a valid Go module path: invalid path element \"..\"", "github.com/x"},
		{"../x", "must be a Go module path, not a path on disk", "x"},
		{"/x/y", "must be a Go module path, not a path on disk", "x/y"},
		{"example.com/x/v1", suffix, "example.com/x"},
		{"example.com/x/v1.2", suffix, "example.com/x"},
		{"app/v1", suffix, "app"},
		{"gopkg.in/x", "must end in a version", ""},
		{"Example.com/x", "is not a valid Go module path: invalid char 'E' in first path element", ""},
		{"example.com/x?y", "is not a valid Go module path: invalid char '?'", ""},
		{"example.com/größe", "is not a valid Go module path: invalid char 'ö'", ""},
		{"example.com/con", "is not a valid Go module path: \"con\" disallowed", ""},
		{"fmt", "must not start with fmt, which is reserved by Go", ""},
		{"net/http", "must not start with net", ""},
		{"cmd", "must not start with cmd", ""},
		{"main", "must not start with main", ""},
		{"-x", "is not a valid Go module path: leading dash", ""},
	})
}

// The list of first parts must hold all of the standard library's.
func TestStandardPackages(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(standardPackages) {
		t.Error("not sorted")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(strings.TrimSpace(string(root)), "src"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" && e.Name() != "arena" && e.Name() != "bootstrap" && !slices.Contains(standardPackages, e.Name()) {
			t.Errorf("%s is missing", e.Name())
		}
	}
}

func TestCheckGroup(t *testing.T) {
	t.Parallel()
	checkNames(t, "--group", func(s string) diag.Findings { return CheckGroup(s, "example.com") }, []nameCase{
		{"cache", "", ""},
		{"sea-creatures", "", ""},
		{"foo.policy", "", ""},
		{"apps", "", ""},
		{"", "", ""},
		{"c4", "", ""},
		{"Cache", "must be in lower case", "cache"},
		{"my_cache", "must consist of", "my-cache"},
		{"my cache", "must not contain spaces", "my-cache"},
		{"cache.example.com", "must not contain the project's domain, which is added to it (cache.example.com.example.com)", "cache"},
		{"Cache.Example.com", "must not contain the project's domain", "cache"},
		{"cache.", "must not start or end with a dot", "cache"},
		{"cache/v1", "must consist of", "cache"},
		{"../x", "must not start or end with a dot", ""},
		{"3scale", "must start with a letter: Go code imports it as 3scale…", "scale"},
		{"import", "is a keyword of Go", "imports"},
		{"go-to", "is a keyword of Go", "gotos"},
		{"main", "is the name of Go's main package", ""},
		{"internal", "is a directory name", ""},
		{"vendor", "is a directory name", ""},
		{"größe", "must consist of", ""},
		{strings.Repeat("a", 64), `part "` + strings.Repeat("a", 64) + `" must not be longer`, strings.Repeat("a", 63)},
		{strings.Repeat("a.", 121) + "a", "makes the API group 255 characters long", ""},
	})
	checkNames(t, "--group", func(s string) diag.Findings { return CheckGroup(s, "") }, []nameCase{
		{"cache.example.com", "", ""},
		{"cache", "must contain a dot", ""},
		{"", "is required: the project has no domain", ""},
	})
	checkNames(t, "--group", func(s string) diag.Findings { return CheckGroup(s, "local") }, []nameCase{
		{"cache", "", ""},
		{"", "is required: the name of an API group must contain a dot", ""},
	})
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	const problem = "must be v and a number"
	checkNames(t, "--version", CheckVersion, []nameCase{
		{"v1", "", ""}, {"v10", "", ""}, {"v1alpha1", "", ""}, {"v2beta12", "", ""},
		{"", "is required", "v1alpha1"},
		{"v1beta", problem, "v1beta1"},
		{"v1alpha", problem, "v1alpha1"},
		{"1", problem, "v1"},
		{"V1", problem, "v1"},
		{"v", problem, "v1"},
		{"v0", problem, "v1"},
		{"v01", problem, "v1"},
		{"v0alpha1", problem, "v1alpha1"},
		{"v1.0", problem, "v1"},
		{"v1.2.3", problem, "v1"},
		{"v1-alpha1", problem, "v1alpha1"},
		{"v1_beta_2", problem, "v1beta2"},
		{"v1alpha0", problem, "v1alpha1"},
		{"1beta1", problem, "v1beta1"},
		{"beta1", problem, "v1beta1"},
		{"alpha", problem, "v1alpha1"},
		{"v1Alpha1", problem, "v1alpha1"},
		{"v1rc1", problem, "v1beta1"},
		{"v1alhpa1", problem, "v1alpha1"},
		{"v1b1", problem, "v1beta1"},
		{"v1alpha1beta1", problem, ""},
		{"latest", problem, ""},
		{" v1", problem, "v1"},
		{"../v1", problem, ""},
		{"v" + strings.Repeat("1", 63), problem, ""},
	})
}

func TestCheckKind(t *testing.T) {
	t.Parallel()
	checkNames(t, "--kind", CheckKind, []nameCase{
		{"Memcached", "", ""}, {"VM", "", ""}, {"Type", "", ""}, {"AllowList", "", ""}, {"S3Bucket", "", ""}, {"X", "", ""},
		{"", "is required", ""},
		{"memcached", "must start with an upper-case letter", "Memcached"},
		{"memCached", "must start with an upper-case letter", "MemCached"},
		{"mem-cached", "must consist of ASCII letters and digits, not '-'", "MemCached"},
		{"Memcached_", "must consist of ASCII letters and digits, not '_'", "Memcached"},
		{"my_kind", "must consist of ASCII letters and digits, not '_'", "MyKind"},
		{"My Kind", "must not contain spaces", "MyKind"},
		{"My.Kind", "must consist of", "MyKind"},
		{"3Scale", "must start with an upper-case letter", "Scale"},
		{"Größe", "must consist of ASCII letters and digits, not 'ö'", ""},
		{"../X", "must consist of", "X"},
		{"42", "must start with an upper-case letter", ""},
		{"GroupVersion", "is an identifier that each API package declares", "GroupVersionConfig"},
		{"K" + strings.Repeat("a", 59), "must not be longer than 59 characters (it has 60)", ""},
	})
}

func TestCheckPluralAndControllerName(t *testing.T) {
	t.Parallel()
	checkNames(t, "--plural", CheckPlural, []nameCase{
		{"people", "", ""}, {"a", "", ""}, {"sea-people", "", ""},
		{"People", "must be in lower case", "people"},
		{"my_people", "must consist of", "mypeople"},
		{"1s", "must start with a letter", ""},
		{"a.b", "must consist of", "ab"},
		{strings.Repeat("a", 64), "must not be longer than 63", strings.Repeat("a", 63)},
	})
	checkNames(t, "--controller-name", CheckControllerName, []nameCase{
		{"memcached", "", ""}, {"captain-backup", "", ""},
		{"CaptainBackup", "must be in lower case", "captain-backup"},
		{"captain_backup", "must consist of", "captain-backup"},
		{"1st", "must start with a letter", ""},
		{"-x", "must start and end", "x"},
	})
}

func TestCheckLicenseAndProjectVersion(t *testing.T) {
	t.Parallel()
	const problem = "must be apache2, mit or none"
	checkNames(t, "--license", CheckLicense, []nameCase{
		{"apache2", "", ""}, {"mit", "", ""}, {"none", "", ""},
		{"apache-2.0", problem, "apache2"}, {"Apache", problem, "apache2"}, {"Apache2", problem, "apache2"}, {"apahce2", problem, "apache2"},
		{"MIT", problem, "mit"}, {"", problem, "none"}, {"no", problem, "none"}, {"gpl", problem, ""}, {"bsd-3-clause", problem, ""},
	})
	checkNames(t, "--project-version", CheckProjectVersion, []nameCase{
		{"3", "", ""},
		{"v3", `project version "v3" is unknown; the only one in use is 3`, "3"},
		{"3.0", `project version "3.0" is unknown`, "3"},
		{"2", "project version 2 is of kubebuilder v1 and v2", ""},
		{"3-alpha", "project version 3-alpha was a preview of version 3; convert", ""},
		{"4", `project version "4" is newer than this Operon; it knows only 3`, ""},
		{"", "is required", "3"},
	})
}

func TestParsePlugins(t *testing.T) {
	t.Parallel()
	one := func(key string) diag.Findings { return ParsePlugins([]string{key}).Findings }
	checkNames(t, "--plugins", one, []nameCase{
		{"go/v4", "", ""}, {"go.kubebuilder.io/v4", "", ""}, {"deploy-image/v1-alpha", "", ""},
		{"deploy-image.go.kubebuilder.io/v1-alpha", "", ""}, {"go/v4,deploy-image/v1-alpha", "", ""}, {"go/v4, manifests/v2", "", ""},
		{"go/v3", "version v3 of the Go layout is not supported", "go/v4"},
		{"go.kubebuilder.io/v2", "version v2 of the Go layout is not supported", "go/v4"},
		{"helm", "", ""}, {"helm/v1", "", ""}, {"helm.sdk.operatorframework.io/v1", "", ""}, {"helm/v1,manifests/v2,scorecard/v2", "", ""},
		{"helm/v2", "version v2 of the Helm layout is not supported", "helm/v1"},
		{"helm/v3-alpha", "version v3-alpha of the plugin is not supported", "helm/v2-alpha"},
		{"hybrid.helm.sdk.operatorframework.io/v1-alpha", "hybrid projects are Go projects", "go/v4"},
		{"ansible", "", ""}, {"ansible/v1", "", ""}, {"ansible.sdk.operatorframework.io/v1", "", ""}, {"ansible/v1, scorecard/v2", "", ""},
		{"ansible/v2", "version v2 of the Ansible layout is not supported", "ansible/v1"},
		{"ansble/v1", "plugin not found", "ansible/v1"},
		{"quarkus/v1-beta", "quarkus projects are not supported", ""},
		{"grafana/v1-alpha", "", ""}, {"grafana.kubebuilder.io/v1-alpha", "", ""}, {"go/v4,autoupdate/v1-alpha", "", ""}, {"autoupdate", "", ""},
		{"grafana/v1", "version v1 of the plugin is not supported, only v1-alpha is", "grafana/v1-alpha"},
		{"graphana/v1-alpha", "plugin not found", "grafana/v1-alpha"}, {"autoupdates.kubebuilder.io/v1-alpha", "plugin not found", KeyAutoUpdate},
		{"deploy-iamge/v1-alpha", "plugin not found", "deploy-image/v1-alpha"},
		{"go4", "plugin not found", ""},
		{"nonsense", "plugin not found", ""},
		{"", "a plugin must not be empty", ""},
	})
	if p := ParsePlugins([]string{"go/v4,deploy-image/v1-alpha"}); !p.DeployImage || p.Findings != nil {
		t.Errorf("got %+v", p)
	}
	if p := ParsePlugins([]string{"helm"}); !p.WithoutGo() || p.Layout.Name != "Helm" || p.Findings != nil {
		t.Errorf("got %+v", p)
	}
	if f := ParsePlugins([]string{"go/v4", "helm/v1"}).Findings; len(f) != 1 || f[0].Value != "helm/v1" || !strings.Contains(f[0].Problem, "cannot be combined with go/v4") {
		t.Errorf("got %v", f)
	}
	if p := ParsePlugins([]string{"ansible"}); !p.WithoutGo() || p.Layout.Name != "Ansible" || p.Findings != nil {
		t.Errorf("got %+v", p)
	}
	if f := ParsePlugins([]string{"helm,helm/v1", "ansible"}).Findings; len(f) != 1 || f[0].Value != "ansible" || !strings.Contains(f[0].Problem, "cannot be combined with helm") {
		t.Errorf("got %v", f)
	}
	if f := ParsePlugins([]string{"go/v3,quarkus/v1", "x"}).Findings; len(f) != 3 {
		t.Errorf("got %v", f)
	}
}

func TestCheckImage(t *testing.T) {
	t.Parallel()
	check := func(ref string) diag.Findings { return CheckImage("--image", ref) }
	checkNames(t, "--image", check, []nameCase{
		{"memcached:1.6.39-alpine", "", ""},
		{"Memcached", "must be in lower case before the tag", "memcached"},
		{"mem cached", "must not contain spaces", ""},
	})
}

func TestCheckNumbers(t *testing.T) {
	t.Parallel()
	const port, user = "must be a number from 1 to 65535", "must be a number from 1 to 2147483647"
	checkNames(t, "--image-container-port", CheckPort, []nameCase{
		{"1", "", ""}, {"65535", "", ""}, {"0", port, ""}, {"65536", port, ""}, {"-1", port, ""}, {"+1", port, ""}, {"http", port, ""}, {"", "", ""}, {"1.5", port, ""},
	})
	checkNames(t, "--run-as-user", CheckRunAsUser, []nameCase{
		{"1", "", ""}, {"1001", "", ""}, {"2147483647", "", ""}, {"0", "must not be root", ""}, {"-1", user, ""}, {"2147483648", user, ""}, {"nobody", user, ""}, {"", "", ""}, {"+1", user, ""},
	})
}

// A new kind has a plural that Kubernetes takes, also where the peers' rule for capitals fails.
func TestDefaultPlural(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"Memcached": "memcacheds", "DNS": "dnses", "X": "xes", "IDs": "ids"} {
		if got := DefaultPlural(kind); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
