package merge

import (
	"go/format"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// oldProgram is a program as the first releases scaffolded it.
const oldProgram = `package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/client-go/plugin/pkg/client/auth/gcp"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"example.com/walk/internal/controller"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	_ = clientgoscheme.AddToScheme(scheme)
	// +kubebuilder:scaffold:scheme
}

func main() {
	var metricsAddr string
	var probeAddr string
	var enableLeaderElection bool
	flag.StringVar(&metricsAddr, "metrics-bind-address", ":8080", "Metrics.")
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "Probes.")
	flag.BoolVar(&enableLeaderElection, "leader-elect", false, "Leader.")
	opts := zap.Options{
		Development: true,
	}
	opts.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&opts)))

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		MetricsBindAddress:     metricsAddr,
		Port:                   9443,
		HealthProbeBindAddress: probeAddr,
		LeaderElection:         enableLeaderElection,
	})
	if err != nil {
		setupLog.Error(err, "no manager")
		os.Exit(1)
	}

	if err = (&controller.MemcachedReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "no controller")
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder

	setupLog.Info("starting manager")
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "no start")
		os.Exit(1)
	}
}
`

// currentProgram returns the program of the current scaffold with one controller.
func currentProgram(t *testing.T) string {
	t.Helper()
	rendered, err := scaffold.Render("init", scaffold.Data{
		Project:  scaffold.Project{Name: "walk", Domain: "example.com", Repo: "example.com/walk"},
		Versions: scaffold.Pinned(),
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := format.Source([]byte(strings.NewReplacer(
		"\t// +kubebuilder:scaffold:imports", "\n\t\"example.com/walk/internal/controller\"\n\t// +kubebuilder:scaffold:imports",
		"\t// +kubebuilder:scaffold:builder", "\tif err := (&controller.MemcachedReconciler{\n\t\tClient: mgr.GetClient(),\n\t\tScheme: mgr.GetScheme(),\n"+
			"\t}).SetupWithManager(mgr); err != nil {\n\t\tos.Exit(1)\n\t}\n\t// +kubebuilder:scaffold:builder",
	).Replace(string(rendered.Files["cmd/main.go"]))))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit replaces the first of each two texts by the second.
func edit(t *testing.T, text string, edits []string) string {
	t.Helper()
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("%q not found in\n%s", edits[i], text)
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

// TestMergeGoProgram checks what the merge makes of edits of an old program.
func TestMergeGoProgram(t *testing.T) {
	t.Parallel()
	theirs := currentProgram(t)
	for name, c := range map[string]struct {
		edits []string
		// want are parts of the result in this order. None stands for the unchanged program.
		want []string
	}{
		"none": {nil, []string{"var s settings\n"}},
		"imports and scheme": {
			[]string{"\t\"flag\"\n", "\t\"flag\"\n\t\"fmt\"\n", "\t// +kubebuilder:scaffold:scheme", "\t// Mine.\n\t_ = fmt.Sprint(scheme)\n\t// +kubebuilder:scaffold:scheme"},
			[]string{"\t\"flag\"\n\t\"fmt\"\n", "clientgoscheme.AddToScheme(scheme))\n", "\t// Mine.\n\t_ = fmt.Sprint(scheme)\n", "// +kubebuilder:scaffold:scheme"},
		},
		"flags": {
			[]string{"\topts := zap", "\t// Mine is mine.\n\tvar mine string\n\tflag.StringVar(&mine, \"mine\", \"\", \"Mine.\")\n\topts := zap", "\tsetupLog.Info(\"starting", "\tsetupLog.Info(mine, \"at\", probeAddr, \"and\", probeAddr)\n\tsetupLog.Info(\"starting"},
			[]string{"\t// Mine is mine.\n\tvar mine string\n\tflag.StringVar(&mine, \"mine\", \"\", \"Mine.\")\n", "\ts.bind(flag.CommandLine)\n\tflag.Parse()\n", "\tsetupLog.Info(mine, \"at\", s.probeAddr, \"and\", s.probeAddr)\n"},
		},
		"fields": {
			[]string{"\t\tScheme: mgr.GetScheme(),\n", "\t\tScheme: mgr.GetScheme(),\n\t\tMine:   true,\n", "\t\tLeaderElection:         enableLeaderElection,\n", "\t\tLeaderElection:         true,\n\t\tLeaseDuration:          mine(),\n",
				"func main()", "// mine is mine.\nfunc mine() *time.Duration { return nil }\n\nfunc main()", "\t\"os\"\n", "\t\"os\"\n\t\"time\"\n"},
			[]string{"\t\"time\"\n", "// mine is mine.\nfunc mine() *time.Duration { return nil }\n", "LeaderElection:         true,\n", "LeaseDuration:          mine(),\n", "if err := (&controller.MemcachedReconciler{\n", "\t\tMine:   true,\n"},
		},
		"logger of a reconciler": {
			[]string{"\t\tScheme: mgr.GetScheme(),\n", "\t\tScheme: mgr.GetScheme(),\n\t\tLog:    ctrl.Log,\n"},
			[]string{"if err := (&controller.MemcachedReconciler{\n", "\t\tLog:    ctrl.Log,\n"},
		},
		"error of a reconciler": {
			[]string{"\t\tsetupLog.Error(err, \"no controller\")\n", "\t\tpanic(err)\n"},
			[]string{"var s settings\n", "if err = (&controller.MemcachedReconciler{\n", "panic(err)"},
		},
		"error of the manager": {
			[]string{"\t\tsetupLog.Error(err, \"no start\")\n", "\t\tpanic(err)\n"},
			[]string{"var s settings\n", "mgr.Start(ctrl.SetupSignalHandler()); err != nil {\n\t\tpanic(err)\n"},
		},
		"statements": {
			[]string{"\tflag.Parse()\n", "\tflag.Parse()\n\tif len(os.Args) > 9 {\n\t\tos.Exit(2) // Mine.\n\t}\n", "\t// +kubebuilder:scaffold:builder\n", "\tgo mgr.GetCache()\n\t// +kubebuilder:scaffold:builder\n", "))\n\n\tmgr, err", "))\n\tsetupLog.Info(\"mine\")\n\n\tmgr, err"},
			[]string{"flag.Parse()\n\tif len(os.Args) > 9 {\n\t\tos.Exit(2) // Mine.\n\t}\n\n\tctrl.SetLogger(", "\tsetupLog.Info(\"mine\")\n", "SetupWithManager(mgr)", "\tgo mgr.GetCache()\n\t// +kubebuilder:scaffold:builder\n"},
		},
		"another logger":      {[]string{"zap.New(zap.UseFlagOptions(&opts))", "zap.New(zap.UseFlagOptions(&opts), mine)", "func main()", "var mine zap.Opts\n\nfunc main()"}, []string{"var s settings\n", "\tctrl.SetLogger(zap.New(zap.UseFlagOptions(&s.log), mine))\n"}},
		"variables":           {[]string{"\tsetupLog = ctrl", "\tmine     = 1\n\tsetupLog = ctrl"}, []string{"\tmine     = 1\n\tsetupLog = ctrl", "var s settings\n"}},
		"variable of the old": {[]string{"\tsetupLog.Info(\"starting", "\topts.Development = false\n\tsetupLog.Info(\"starting"}, []string{"\ts.log.Development = false\n"}},
		"removed check":       {[]string{"\t\tLeaderElection:         enableLeaderElection,\n", ""}, []string{"HealthProbeBindAddress: s.probeAddr,\n\t\tLeaderElectionID:"}},
		"header":              {[]string{"package main", "// Mine.\n\npackage main"}, []string{"// Mine.\n\n// Package main", "var s settings\n"}},
		"comment":             {[]string{"\tflag.Parse()\n", "\t// Mine.\n\tflag.Parse()\n"}, []string{"\t// Mine.\n\tflag.Parse()\n"}},
		"another default":     {[]string{"\":8081\"", "\":8082\""}, nil},
		"another option":      {[]string{"Development: true", "Development: false"}, nil},
		"another port":        {[]string{"9443", "9444"}, nil},
		"several import declarations": {
			[]string{"import (\n\t\"flag\"\n", "import m \"example.com/mine\" // Mine.\n\nimport (\n\t\"flag\"\n", "\tflag.Parse()\n", "\tm.Do()\n\tflag.Parse()\n"},
			[]string{"import (\n\t\"crypto/tls\"\n", "\tm \"example.com/mine\" // Mine.\n", "m.Do()\n", "var s settings\n"},
		},
		"two names of a package": {
			[]string{"import (\n\t\"flag\"\n", "import (\n\t\"flag\"\n\tf \"flag\"\n", "\tflag.Parse()\n", "\tf.Bool(\"mine\", false, \"\")\n\tflag.Parse()\n"},
			[]string{"\t\"flag\"\n\tf \"flag\"\n", "f.Bool(\"mine\", false, \"\")\n", "var s settings\n", "flag.Parse()\n"},
		},
		"a name for another package": {
			[]string{"import (\n\t\"flag\"\n", "import (\n\twebhook \"example.com/mine\"\n\n\t\"flag\"\n", "\tflag.Parse()\n", "\twebhook.Do()\n\tflag.Parse()\n"},
			[]string{"webhook \"example.com/mine\"\n", "pkgwebhook \"sigs.k8s.io/controller-runtime/pkg/webhook\"\n", "pkgwebhook.NewServer(options)", "\twebhook.Do()\n"},
		},
		"another name for a package": {
			[]string{"ctrl \"sigs", "runtimectrl \"sigs", "ctrl.Log", "runtimectrl.Log", "ctrl.SetLogger", "runtimectrl.SetLogger", "ctrl.NewManager", "runtimectrl.NewManager", "ctrl.GetConfigOrDie",
				"runtimectrl.GetConfigOrDie", "ctrl.Options", "runtimectrl.Options", "ctrl.SetupSignalHandler", "runtimectrl.SetupSignalHandler"},
			[]string{"runtimectrl \"sigs", "var s settings\n", "runtimectrl.GetConfig()", "runtimectrl.NewManager(config, runtimectrl.Options{"},
		},
		"imports in one line":        {[]string{"import (\n\t\"flag\"\n", "import (\"flag\"; \"fmt\")\nimport (\n"}, nil},
		"a declared type":            {[]string{"func main()", "type settings struct{}\n\nfunc main()"}, nil},
		"a declared variable":        {[]string{"\tflag.Parse()\n", "\tflag.Parse()\n\tconfig := 1\n\t_ = config\n"}, nil},
		"a declared flag":            {[]string{"\tflag.Parse()\n", "\tflag.Bool(\"metrics-secure\", false, \"\")\n\tflag.Parse()\n"}, nil},
		"a declared flag of a group": {[]string{"\tflag.Parse()\n", "\tflag.String(\"metrics-cert-path\", \"\", \"\")\n\tflag.Parse()\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours := edit(t, oldProgram, c.edits)
			merged, r, err := mergeGo([]byte(ours), []byte(theirs), fileBase(t, "main.go", []byte(oldProgram)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Conflicts) > 0 {
				t.Errorf("unexpected conflicts %q", r.Conflicts)
			}
			if c.want == nil {
				if string(merged) != ours || r.Reason == "" {
					t.Errorf("got reason %q and\n%s", r.Reason, merged)
				}
				return
			}
			if r.Reason != "" {
				t.Fatal(r.Reason)
			}
			rest := string(merged)
			for _, part := range c.want {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("%q is missing or in the wrong order in\n%s", part, merged)
				}
				rest = after
			}
			if c.edits == nil && string(merged) != theirs {
				t.Errorf("got\n%s\nwant the current program", merged)
			}
			if formatted, err := format.Source(merged); err != nil || string(formatted) != string(merged) {
				t.Errorf("the result is not formatted: %v\n%s", err, merged)
			}
			again, _, err := mergeGo(merged, []byte(theirs), fileBase(t, "main.go", []byte(theirs)), Options{})
			if err != nil || !slices.Equal(again, merged) {
				t.Errorf("second merge: %v\n%s", err, again)
			}
		})
	}
}

// TestMergeGoHeader checks that the license header is the user's, and edited or not does not matter.
func TestMergeGoHeader(t *testing.T) {
	t.Parallel()
	const base, theirs = "// Theirs then.\n\npackage x\n\nvar a = 1\n", "// Theirs.\n\n// Package x is x.\npackage x\n\nvar a = 2\n"
	for ours, want := range map[string]string{
		base: "// Theirs then.\n\n// Package x is x.\npackage x\n\nvar a = 2\n",
		"//go:build mine\n\npackage x\n\nvar a = 1\n": "//go:build mine\n\n// Package x is x.\npackage x\n\nvar a = 2\n",
		"package x\n\nvar a = 1\n":                    "// Package x is x.\npackage x\n\nvar a = 2\n",
	} {
		merged, r, err := mergeGo([]byte(ours), []byte(theirs), fileBase(t, "x.go", []byte(base)), Options{})
		if err != nil || string(merged) != want || r.Edited {
			t.Errorf("%q: got %q, edited %t, %v, want %q", ours, merged, r.Edited, err, want)
		}
	}
}

// TestMergeGoConstraint checks that a new build constraint comes to files whose license header is the user's, and that the
// user's own constraint stays.
func TestMergeGoConstraint(t *testing.T) {
	t.Parallel()
	const tagged, untagged = "//go:build e2e\n\n// Theirs.\n\npackage x\n", "// Theirs.\n\npackage x\n"
	for _, c := range []struct{ base, ours, theirs, want string }{
		{untagged, "// Mine.\n\npackage x\n", tagged, "//go:build e2e\n\n// Mine.\n\npackage x\n"},
		{untagged, "package x\n", tagged, "//go:build e2e\n\npackage x\n"},
		{untagged, "//go:build mine\n\n// Mine.\n\npackage x\n", tagged, "//go:build mine\n\n// Mine.\n\npackage x\n"},
		{tagged, "//go:build e2e\n\n// Mine.\n\npackage x\n", untagged, "// Mine.\n\npackage x\n"},
	} {
		merged, _, err := mergeGo([]byte(c.ours), []byte(c.theirs), fileBase(t, "x.go", []byte(c.base)), Options{})
		if err != nil || string(merged) != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.ours, merged, err, c.want)
		}
	}
}

// TestMergeGoConflict checks that conflicts are written where a choice makes sense, and the file is unchanged in other places.
func TestMergeGoConflict(t *testing.T) {
	t.Parallel()
	const before, after = "package x\n\nfunc f() { a() }\n", "package x\n\nfunc f() { b() }\n"
	for _, c := range []struct{ base, ours, theirs, want string }{
		{before, "package x\n\nfunc f() { mine() }\n", after, "package x\n\n<<<<<<< ours\nfunc f() { mine() }\n=======\nfunc f() { b() }\n>>>>>>> theirs\n"},
		{"package x\n\nvar _ = D(\"x\", a)\n", "package x\n\nvar _ = D(\"x\", mine)\n", "package x\n\nvar _ = D(\"x\", b)\n", "package x\n\nvar _ = D(\"x\", mine)\n"},
		{"package x\n", "package x\n\nfunc f() { mine() }\n", after, "package x\n\nfunc f() { mine() }\n"},
	} {
		merged, r, err := mergeGo([]byte(c.ours), []byte(c.theirs), fileBase(t, "x.go", []byte(c.base)), Options{OursLabel: "ours", TheirsLabel: "theirs"})
		if err != nil || string(merged) != c.want || (r.Reason != "") != (c.want == c.ours) {
			t.Errorf("%q: got %q, reason %q, %v, want %q", c.ours, merged, r.Reason, err, c.want)
		}
	}
}
