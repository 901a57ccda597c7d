package upgrade

import (
	"go/format"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// oldProgram is a program in the shape that scaffolds had once.
const oldProgram = `package main

import (
	"go/format"
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

// todaysProgram is the program of today's scaffold, with one controller.
func todaysProgram(t *testing.T) string {
	t.Helper()
	rendered, err := scaffold.Render("init", scaffold.Data{
		Project:  scaffold.Project{Name: "walk", Domain: "example.com", Repo: "example.com/walk"},
		Versions: scaffold.Pinned(),
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := format.Source([]byte(strings.NewReplacer(
		"\t// +kubebuilder:scaffold:imports", "\t\"example.com/walk/internal/controller\"\n\t// +kubebuilder:scaffold:imports",
		"\t// +kubebuilder:scaffold:builder", "\tif err := (&controller.MemcachedReconciler{\n\t\tClient: mgr.GetClient(),\n\t\tScheme: mgr.GetScheme(),\n"+
			"\t}).SetupWithManager(mgr); err != nil {\n\t\tos.Exit(1)\n\t}\n\t// +kubebuilder:scaffold:builder",
	).Replace(string(rendered.Files["cmd/main.go"]))))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMergeProgram holds what of a person's program goes into today's, and what makes it no addition.
func TestMergeProgram(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for line := range strings.Lines(oldProgram) {
		known[strings.TrimRight(line, "\n")] = true
	}
	theirs := todaysProgram(t)
	for name, c := range map[string]struct {
		edits []string
		// want are parts of what comes of it, in this order; none where it is left to a person.
		want []string
	}{
		"nothing": {nil, []string{"var s settings\n"}},
		"imports and types": {
			[]string{"\t\"flag\"\n", "\t\"flag\"\n\t\"fmt\"\n", "\t// +kubebuilder:scaffold:scheme", "\t// Mine.\n\t_ = fmt.Sprint(scheme)\n\t// +kubebuilder:scaffold:scheme"},
			[]string{"\t\"flag\"\n\t\"fmt\"\n", "clientgoscheme.AddToScheme(scheme))\n", "\t// Mine.\n\t_ = fmt.Sprint(scheme)\n", "// +kubebuilder:scaffold:scheme"},
		},
		"flags": {
			[]string{"\topts := zap", "\t// Mine is mine.\n\tvar mine string\n\tflag.StringVar(&mine, \"mine\", \"\", \"Mine.\")\n\topts := zap", "\tsetupLog.Info(\"starting", "\tsetupLog.Info(mine, \"at\", probeAddr, \"and\", probeAddr)\n\tsetupLog.Info(\"starting"},
			[]string{"\ts.bind(flag.CommandLine)\n\t// Mine is mine.\n\tvar mine string\n\tflag.StringVar(&mine, \"mine\", \"\", \"Mine.\")\n\tflag.Parse()\n", "\tsetupLog.Info(mine, \"at\", s.probeAddr, \"and\", s.probeAddr)\n"},
		},
		"fields": {
			[]string{"\t\tScheme: mgr.GetScheme(),\n", "\t\tScheme: mgr.GetScheme(),\n\t\tMine:   true,\n", "\t\tLeaderElection:         enableLeaderElection,\n", "\t\tLeaderElection:         true,\n\t\tLeaseDuration:          mine(),\n",
				"func main()", "// mine is mine.\nfunc mine() *time.Duration { return nil }\n\nfunc main()", "\t\"os\"\n", "\t\"os\"\n\t\"time\"\n"},
			[]string{"\t\"time\"\n", "LeaderElection:         true,\n", "LeaseDuration:          mine(),\n", "if err = (&controller.MemcachedReconciler{\n", "\t\tMine:   true,\n", "\"no controller\"", "// mine is mine.\nfunc mine() *time.Duration { return nil }\n"},
		},
		"statements": {
			[]string{"\tflag.Parse()\n", "\tflag.Parse()\n\tif len(os.Args) > 9 {\n\t\tos.Exit(2) // Mine.\n\t}\n", "\t// +kubebuilder:scaffold:builder\n", "\tgo mgr.GetCache()\n\t// +kubebuilder:scaffold:builder\n", ")\n\n\tmgr, err", ")\n\tsetupLog.Info(\"mine\")\n\n\tmgr, err"},
			[]string{"flag.Parse()\n\tif len(os.Args) > 9 {\n\t\tos.Exit(2) // Mine.\n\t}\n\tctrl.SetLogger(", "\tsetupLog.Info(\"mine\")\n", "ctrl.GetConfig()", "SetupWithManager(mgr)", "\tgo mgr.GetCache()\n\t// +kubebuilder:scaffold:builder\n"},
		},
		"variables":                  {[]string{"\tsetupLog = ctrl", "\tmine     = 1\n\tsetupLog = ctrl"}, []string{"setupLog = ctrl.Log.WithName(\"setup\")\n\tmine     = 1\n)\n"}},
		"another default":            {[]string{"\":8081\"", "\":8082\""}, nil},
		"another logger":             {[]string{"Development: true", "Development: false"}, nil},
		"another port":               {[]string{"9443", "9444"}, nil},
		"a variable of old":          {[]string{"\tsetupLog.Info(\"starting", "\topts.Development = false\n\tsetupLog.Info(\"starting"}, nil},
		"a name that is taken":       {[]string{"func main()", "type settings struct{}\n\nfunc main()"}, nil},
		"a variable that is taken":   {[]string{"\tflag.Parse()\n", "\tflag.Parse()\n\tconfig := 1\n\t_ = config\n"}, nil},
		"a comment":                  {[]string{"\t\tPort:     ", "\t\t// Mine.\n\t\tPort:     "}, nil},
		"a comment behind":           {[]string{"\tflag.Parse()\n", "\tflag.Parse() // Mine.\n"}, nil},
		"no main":                    {[]string{"func main()", "func mine()"}, nil},
		"another config":             {[]string{"ctrl.GetConfigOrDie()", "mine()"}, nil},
		"another package":            {[]string{"package main", "package mine"}, nil},
		"no Go":                      {[]string{"func main()", "func main("}, nil},
		"a manager of other options": {[]string{"ctrl.Options{", "mine.Options{"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine := oldProgram
			for i := 0; i < len(c.edits); i += 2 {
				if !strings.Contains(mine, c.edits[i]) {
					t.Fatalf("no %q", c.edits[i])
				}
				mine = strings.Replace(mine, c.edits[i], c.edits[i+1], 1)
			}
			for _, ends := range []string{"\n", "\r\n"} {
				merged, ok := mergeProgram([]byte(strings.ReplaceAll(mine, "\n", ends)), []byte(theirs), func(line string) bool { return known[line] })
				if ok != (c.want != nil) {
					t.Fatalf("merged: %t\n%s", ok, merged)
				}
				rest := strings.ReplaceAll(string(merged), ends, "\n")
				for _, part := range c.want {
					_, after, found := strings.Cut(rest, part)
					if !found {
						t.Fatalf("there is no %q, or not in its place, in\n%s", part, merged)
					}
					rest = after
				}
				if ok && c.edits == nil && ends == "\n" && string(merged) != theirs {
					t.Errorf("it is not today's:\n%s", merged)
				}
			}
		})
	}
}
