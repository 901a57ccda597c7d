package scaffold

import (
	"regexp"
	"strings"
	"testing"
)

const unmarkedMain = `package main

import (
	"os"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	types "github.com/example/op/api/v1"
	"github.com/example/op/internal/controller"
)

func init() {
	utilruntime.Must(types.AddToScheme(scheme))
}

var scheme, setupLog = newScheme(), ctrl.Log

func main() {
	mgr, err := ctrl.NewManager()
	if err != nil {
		os.Exit(1)
	}
	if err := (&controller.CaptainReconciler{}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		os.Exit(1)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
`

var unmarkedBlocks = map[string]string{
	"imports": "cachev1 \"github.com/example/op/api/v1\"\nshipv1 \"github.com/example/op/api/ship/v1\"\n",
	"scheme":  "utilruntime.Must(cachev1.AddToScheme(scheme))\n",
	"builder": "if err := (&controller.SailorReconciler{}).SetupWithManager(mgr); err != nil {\n\tsetupLog.Error(err, \"Failed\")\n\tos.Exit(1)\n}\n",
}

// TestInsertWithoutMarkers finds the places by the code around them, and uninsert undoes it to the byte.
func TestInsertWithoutMarkers(t *testing.T) {
	t.Parallel()
	got := mustInsert(t, unmarkedMain, "cmd/main.go", unmarkedBlocks)
	want := strings.Replace(unmarkedMain, "\ttypes \"github", "\tshipv1 \"github.com/example/op/api/ship/v1\"\n\ttypes \"github", 1)
	want = strings.Replace(want, "\n\n\tif err := mgr.AddHealthz", "\n\tif err := (&controller.SailorReconciler{}).SetupWithManager(mgr); err != nil {\n"+
		"\t\tsetupLog.Error(err, \"Failed\")\n\t\tos.Exit(1)\n\t}\n\n\tif err := mgr.AddHealthz", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	removed, kept := map[string]map[string]bool{}, map[string]map[string]bool{"scheme": {unmarkedBlocks["scheme"]: true}, importsMarker: {}}
	for marker, text := range unmarkedBlocks {
		removed[marker] = map[string]bool{text: true}
	}
	kept[importsMarker][strings.Split(unmarkedBlocks[importsMarker], "\n")[0]] = true
	rest, edited, err := uninsert([]byte(got), "cmd/main.go", removed, kept, nil)
	if err != nil || len(edited) > 0 || string(rest) != unmarkedMain {
		t.Errorf("undone: %v, %v\n%s", edited, err, rest)
	}
}

// TestInsertWithoutMarkersRefuses reports the marker where the code does not know the names of the text.
func TestInsertWithoutMarkersRefuses(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"no log":       strings.ReplaceAll(unmarkedMain, "setupLog", "logger"),
		"other name":   regexp.MustCompile(`\bmgr\b`).ReplaceAllString(unmarkedMain, "manager"),
		"not started":  strings.ReplaceAll(unmarkedMain, "mgr.Start(", "run("),
		"no set-up":    strings.ReplaceAll(unmarkedMain, "SetupWithManager", "Register"),
		"other import": strings.ReplaceAll(unmarkedMain, `"os"`, `system "os"`),
	} {
		_, err := Insert([]byte(file), "cmd/main.go", map[string]string{"builder": unmarkedBlocks["builder"]})
		if err == nil || !strings.HasPrefix(err.Error(), "cmd/main.go: the marker builder is missing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInsertIntoSuiteWithoutMarkers(t *testing.T) {
	t.Parallel()
	suite := "package v1\n\nvar _ = BeforeSuite(func() {\n\tscheme := runtime.NewScheme()\n\terr := shipv1.AddToScheme(scheme)\n" +
		"\tExpect(err).NotTo(HaveOccurred())\n\n\terr = SetupShipWebhookWithManager(mgr)\n\tExpect(err).NotTo(HaveOccurred())\n\n\tmgr := start()\n})\n"
	got := mustInsert(t, suite, "webhook_suite_test.go", map[string]string{
		"scheme":  "err = crewv1.AddToScheme(scheme)\nExpect(err).NotTo(HaveOccurred())\n",
		"webhook": "err = SetupCrewWebhookWithManager(mgr)\nExpect(err).NotTo(HaveOccurred())\n",
	})
	want := strings.Replace(suite, "HaveOccurred())\n", "HaveOccurred())\n\terr = crewv1.AddToScheme(scheme)\n\tExpect(err).NotTo(HaveOccurred())\n", 1)
	want = strings.Replace(want, "\n\n\tmgr", "\n\terr = SetupCrewWebhookWithManager(mgr)\n\tExpect(err).NotTo(HaveOccurred())\n\n\tmgr", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInsertIntoListsWithoutMarkers(t *testing.T) {
	t.Parallel()
	file := "resources:\n- bases/a.yaml\n- bases/b.yaml\n\npatches:\n- path: patches/a.yaml\n# my own\n"
	got := mustInsert(t, file, "config/crd/kustomization.yaml", map[string]string{
		"crdkustomizeresource": "- bases/c.yaml\n", "crdkustomizewebhookpatch": "- path: patches/c.yaml\n",
	})
	want := "resources:\n- bases/a.yaml\n- bases/b.yaml\n- bases/c.yaml\n\npatches:\n- path: patches/a.yaml\n- path: patches/c.yaml\n# my own\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}
