//go:build unix

package codegen

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// benchRoot is a variable with a directory in which the test binary generates, instead of testing, so that processes are
// compared.
const benchRoot = "OPERON_CODEGEN_BENCH_ROOT"

// benchCommand returns benchGenerate if benchRoot is set, or else nil.
func benchCommand() func() int {
	if os.Getenv(benchRoot) == "" {
		return nil
	}
	return benchGenerate
}

// benchGenerate generates in benchRoot and returns the exit code.
func benchGenerate() int {
	opts := Options{Env: os.Environ(), Root: os.Getenv(benchRoot), CacheDir: os.Getenv(benchRoot + "_CACHE"), Offline: true}
	if added := os.Getenv(benchRoot + "_ADD"); added != "" {
		opts.Overlay = map[string][]byte{}
		for name, content := range benchAPI(added) {
			opts.Overlay[name] = []byte(content)
		}
	}
	result, err := Generate(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name, content := range result.Files {
		if opts.Overlay != nil {
			continue
		}
		file := filepath.Join(opts.Root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return 1
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return 1
		}
	}
	return 0
}

// benchAPI returns a kind with its controller, as scaffolded. A name with a slash contains its group.
func benchAPI(name string) map[string]string {
	group, kind, apart := strings.Cut(name, "/")
	if !apart {
		group, kind = "cache", name
	}
	dir := "api/v1alpha1/"
	if apart {
		dir = "api/" + group + "/v1alpha1/"
	}
	fill := strings.NewReplacer("KIND", kind, "PLURAL", strings.ToLower(kind)+"s", "GROUP", group,
		"DIR", strings.TrimSuffix(dir, "/"), "'", "`")
	return map[string]string{
		dir + "groupversion_info.go": fill.Replace(`// Package v1alpha1 is a version.
// +kubebuilder:object:generate=true
// +groupName=GROUP.example.com
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is this package's.
	GroupVersion = schema.GroupVersion{Group: "GROUP.example.com", Version: "v1alpha1"}
	// SchemeBuilder collects types.
	SchemeBuilder = runtime.NewSchemeBuilder()
	// AddToScheme adds them.
	AddToScheme = SchemeBuilder.AddToScheme
)
`),
		dir + strings.ToLower(kind) + "_types.go": fill.Replace(`package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KINDSpec defines the desired state of a KIND.
type KINDSpec struct {
	// size is the number of pods.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Size *int32 'json:"size,omitempty"'
	// containerPort is where they listen.
	// +optional
	ContainerPort int32 'json:"containerPort,omitempty"'
}

// KINDStatus defines the observed state of a KIND.
type KINDStatus struct {
	// nodes are the names of the pods.
	// +optional
	Nodes []string 'json:"nodes,omitempty"'
	// conditions of the KIND.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition 'json:"conditions,omitempty"'
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// KIND is the schema of PLURAL.
type KIND struct {
	metav1.TypeMeta 'json:",inline"'
	// +optional
	metav1.ObjectMeta 'json:"metadata,omitzero"'
	// +required
	Spec KINDSpec 'json:"spec"'
	// +optional
	Status KINDStatus 'json:"status,omitzero"'
}

// +kubebuilder:object:root=true

// KINDList is a list of them.
type KINDList struct {
	metav1.TypeMeta 'json:",inline"'
	metav1.ListMeta 'json:"metadata,omitzero"'
	Items []KIND 'json:"items"'
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &KIND{}, &KINDList{})
		return nil
	})
}
`),
		"internal/controller/" + group + strings.ToLower(kind) + "_controller.go": fill.Replace(`package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "example.com/bench/DIR"
)

// GROUPKINDReconciler reconciles.
type GROUPKINDReconciler struct {
	client.Client
}

// +kubebuilder:rbac:groups=GROUP.example.com,resources=PLURAL,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=GROUP.example.com,resources=PLURAL/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete

// Reconcile does nothing.
func (r *GROUPKINDReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var one api.KIND
	return ctrl.Result{}, client.IgnoreNotFound(r.Get(ctx, req.NamespacedName, &one))
}

// SetupWithManager sets up.
func (r *GROUPKINDReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&api.KIND{}).Owns(&appsv1.Deployment{}).Complete(r)
}
`),
	}
}

// benchProject writes a project with some kinds and the requirements of this module.
func benchProject(b testing.TB, names ...string) string {
	b.Helper()
	dir := realTemp(b)
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		b.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		b.Fatal(err)
	}
	write(b, dir, "go.mod", strings.Replace(string(mod), "module github.com/operon-sdk/operon", "module example.com/bench", 1))
	write(b, dir, "go.sum", string(sum))
	write(b, dir, "hack/boilerplate.go.txt", "/*\nCopyright.\n*/\n")
	write(b, dir, "cmd/main.go", "package main\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\nfunc main() {\n\t_, _ = ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})\n}\n")
	for _, name := range names {
		for file, content := range benchAPI(name) {
			write(b, dir, file, content)
		}
	}
	// The project has fewer imports than this module, so that its go.mod differs.
	update := exec.Command("go", "list", "-mod=mod", "./...")
	update.Dir = dir
	if out, err := update.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// kinds returns the names of kinds, in one group or in one group each.
func kinds(n int, apart bool) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("Kind%d", i)
		if apart {
			names[i] = fmt.Sprintf("group%d/Kind", i)
		}
	}
	return names
}

// measure runs a command, and sets peak to the maximum memory of it and of its children.
func measure(b *testing.B, peak *int64, cmd *exec.Cmd) {
	b.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "darwin" {
		rss /= 1024
	}
	*peak = max(*peak, int64(rss))
}

// BenchmarkGenerate compares Generate with the two runs of controller-gen in a Makefile.
//
//	go test ./pkg/codegen -run '^$' -bench Generate -benchtime 5x
func BenchmarkGenerate(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	ours := func(dir, cache string, vars ...string) *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), append(vars, benchRoot+"="+dir, benchRoot+"_CACHE="+cache)...)
		return cmd
	}
	touch := func(b *testing.B, dir, file string, i int) {
		b.StopTimer()
		text := read(b, dir, file)
		text, _, _ = strings.Cut(text, "// Change ")
		write(b, dir, file, fmt.Sprintf("%s// Change number %d.\ntype Change%d struct{}\n", text, i, i))
		b.StartTimer()
	}
	for _, layout := range []struct {
		name  string
		kinds []string
		file  string
		added string
	}{
		{"1-kind", kinds(1, false), "api/v1alpha1/kind0_types.go", "Added"},
		{"50-kinds", kinds(50, false), "api/v1alpha1/kind0_types.go", "Added"},
		{"50-groups", kinds(50, true), "api/group0/v1alpha1/kind_types.go", "added/Kind"},
	} {
		dir, cache := benchProject(b, layout.kinds...), b.TempDir()
		run := func(name string, each func(b *testing.B, peak *int64, i int)) {
			b.Run(layout.name+"/"+name, func(b *testing.B) {
				var peak int64
				for i := 0; b.Loop(); i++ {
					each(b, &peak, i)
				}
				b.ReportMetric(float64(peak)/1024, "peak-MB")
			})
		}
		run("controller-gen", func(b *testing.B, peak *int64, i int) {
			touch(b, dir, layout.file, i)
			for _, args := range [][]string{objectArgs(), manifestArgs()} {
				cmd := exec.Command(peerBinary(b), args...)
				cmd.Dir = dir
				measure(b, peak, cmd)
			}
		})
		run("cold", func(b *testing.B, peak *int64, i int) {
			measure(b, peak, ours(dir, ""))
		})
		measure(b, new(int64), ours(dir, cache))
		run("changed", func(b *testing.B, peak *int64, i int) {
			touch(b, dir, layout.file, i+1000)
			measure(b, peak, ours(dir, cache))
		})
		run("unchanged", func(b *testing.B, peak *int64, i int) {
			measure(b, peak, ours(dir, cache))
		})
		run("added", func(b *testing.B, peak *int64, i int) {
			// A new name each time, so that nothing is cached for it.
			measure(b, peak, ours(dir, cache, fmt.Sprintf("%s_ADD=%s%d", benchRoot, layout.added, i)))
		})
	}
}
