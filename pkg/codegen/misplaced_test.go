package codegen

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMisplacedMarkers writes markers in places where the generators find them, and in others.
func TestMisplacedMarkers(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	write(t, dir, "internal/c.go", `// Package internal has a role.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
package internal

// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get

// Reconcile is documented.
//
// +kubebuilder:rbac:groups="",resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=services,verbs=get
func Reconcile() {
	// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
}

// T is a type.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
type T struct {
	// +kubebuilder:rbac:groups="",resources=events,verbs=get
	F string
}

// +kubebuilder:rbac:groups="",resources=endpoints,verbs=get
var V = 1

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:object:root=true
`)
	write(t, dir, "api/v1/more.go", `package v1

// +kubebuilder:validation:Enum=a

// +kubebuilder:validation:Enum=a
type Named string

// +kubebuilder:validation:Enum=b
func (Named) Method() {}

// Spec has required fields.
// +kubebuilder:validation:Required
type Spec struct{}
`)
	want := []string{
		"api/v1/more.go:8:4: marker +kubebuilder:validation:Enum has no effect in the comment of the function Method: it describes types or fields; write it directly above what it describes",
		"api/v1/more.go:12:4: marker +kubebuilder:validation:Required has no effect in the comment of the type Spec: it describes packages or fields; write it directly above what it describes",
	}
	for _, at := range []string{
		"9:4: IN the comment of the function Reconcile", "10:4: IN the comment of the function Reconcile", "12:5: IN the function Reconcile",
		"16:4: IN the comment of the type T", "18:5: IN the comment of the field F", "22:4: IN the comment of a declaration",
	} {
		fix := "put an empty line between it and the comment, or move it above that comment with an empty line below"
		if strings.Contains(at, "in the function") || strings.HasPrefix(at, "12:") {
			fix = "move it out of the function"
		}
		place, where, _ := strings.Cut(at, ": IN ")
		want = append(want, "internal/c.go:"+place+": marker +kubebuilder:rbac has no effect in "+where+": it describes packages; "+fix)
	}
	want = append(want, "internal/c.go:26:4: marker +kubebuilder:object:root has no effect: it describes types; write it directly above what it describes")
	result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, warning := range result.Warnings {
		got = append(got, warning.Error())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// The fixed files have the effect, and nothing else to fix.
	for name, content := range result.Fixed {
		write(t, dir, name, string(content))
	}
	if len(result.Fixed) != 1 {
		t.Errorf("%d files are fixed", len(result.Fixed))
	}
	const fixed = `// Package internal has a role.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
package internal

// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get

// +kubebuilder:rbac:groups="",resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=services,verbs=get
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// Reconcile is documented.
func Reconcile() {
}

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// +kubebuilder:rbac:groups="",resources=events,verbs=get

// T is a type.
type T struct {
	F string
}

// +kubebuilder:rbac:groups="",resources=endpoints,verbs=get

var V = 1

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:object:root=true
`
	if got := string(result.Fixed["internal/c.go"]); got != fixed {
		t.Errorf("the fixed file is\n%s", got)
	}
	again, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
	if err != nil || len(again.Warnings) != 3 || len(again.Fixed) != 0 {
		t.Errorf("after the fix: %v, %v, %d files", err, again.Warnings, len(again.Fixed))
	}
	role := string(again.Files["config/rbac/role.yaml"])
	for _, resource := range []string{"deployments", "daemonsets", "pods", "services", "secrets", "nodes", "events", "endpoints", "namespaces"} {
		if !strings.Contains(role, "- "+resource+"\n") {
			t.Errorf("the role has no %s:\n%s", resource, role)
		}
	}
}

// TestFixedMarkersKeepLineEnds moves markers in a file with the line ends of Windows.
func TestFixedMarkersKeepLineEnds(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	write(t, dir, "internal/c.go", crlf(`// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get

// Copyright

package internal

// +groupName=example.com
type T struct{}

// Reconcile is documented.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get
func Reconcile() {

	// +kubebuilder:rbac:groups="",resources=services,verbs=get

	_ = 0
}
`))
	result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := crlf(`// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get

// Copyright

package internal

// +groupName=example.com

type T struct{}

// +kubebuilder:rbac:groups="",resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=services,verbs=get

// Reconcile is documented.
func Reconcile() {

	_ = 0
}
`)
	if got := string(result.Fixed["internal/c.go"]); got != want {
		t.Errorf("the fixed file is\n%s", got)
	}
	if got := result.Warnings; len(got) != 3 || got[0].Rule != "misplaced-marker" || got[0].Problem != "marker +groupName has no effect in the comment of the type T: it describes packages; put an empty line between it and the comment, or move it above that comment with an empty line below" {
		t.Errorf("got %v", got)
	}
}

// TestMalformedMarkers writes markers that generators take for text, and text about markers.
func TestMalformedMarkers(t *testing.T) {
	t.Parallel()
	dir := withKind(t)
	write(t, dir, "api/v1/more.go", `package v1

// + kubebuilder:validation:MinLength=1
type A string

// kubebuilder:validation:MinLength=1
type B string

// C is a string.//+kubebuilder:validation:MinLength=1
type C string

/*
D is a string.
 * +kubebuilder:validation:MinLength=1
*/
type D string

/* +kubebuilder:validation:MinLength=1 */
type E string

type F struct {
	A string // +kubebuilder:validation:MinLength=1
	B string // +optional
	C string // has +kubebuilder:validation:MinLength=1 on the list
	D string // kubebuilder:validation is its prefix
	// See // +kubebuilder:validation
	// //+kubebuilder:validation:MinLength=1
	// Use "//+kubebuilder:validation:MinLength=1".
	E string
	// +kubebuilder:validation:Enum:a;b
	F string
	// +kubebuilder:validation:UniqueItems:true
	G []string
}

// +optional
// +required
type G string
`)
	result, err := Generate(context.Background(), Options{Env: os.Environ(), Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, warning := range result.Warnings {
		got = append(got, warning.Error()+" "+warning.Rule)
	}
	const file, subject = "api/v1/more.go:", ": marker +kubebuilder:validation:MinLength has no effect "
	want := []string{
		file + "3:6" + subject + "with a space after the plus sign; remove the space malformed-marker",
		file + "6:4" + subject + "without a plus sign; write + before it malformed-marker",
		file + "9:21" + subject + "behind other text; write it in a line of its own malformed-marker",
		file + "14:5" + subject + "in a block comment; write it in a line comment, after // malformed-marker",
		file + "18:5" + subject + "in a block comment; write it in a line comment, after // malformed-marker",
		file + "22:14: marker +kubebuilder:validation:MinLength has no effect in the comment behind the field A: it describes types or fields; write it directly above what it describes misplaced-marker",
		file + "23:14: marker +optional has no effect in the comment behind the field B: it describes fields; write it directly above what it describes misplaced-marker",
		file + "30:5: unknown marker +kubebuilder:validation:Enum:a;b: no generator reads it; did you mean +kubebuilder:validation:Enum=a;b? unknown-marker",
		file + "32:5: unknown marker +kubebuilder:validation:UniqueItems:true: no generator reads it; did you mean +kubebuilder:validation:UniqueItems=true? unknown-marker",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNearestMarker expects the last part of a name to matter most.
func TestNearestMarker(t *testing.T) {
	t.Parallel()
	registry, err := All.registry()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, definition := range registry.AllDefinitions() {
		names = append(names, definition.Name)
	}
	slices.Sort(names)
	for name, want := range map[string]string{
		"kubebuilder:MinLength:":                    "kubebuilder:validation:MinLength",
		"kubebuilder:validation:minimum":            "kubebuilder:validation:Minimum",
		"kubebuilder:valdation:Pattern":             "kubebuilder:validation:Pattern",
		"kubebuilder:validation:subresource:status": "kubebuilder:subresource:status",
		"kubebuilder:printcolum":                    "kubebuilder:printcolumn",
		"kubebuilder:validation:Minimun":            "kubebuilder:validation:Minimum",
	} {
		if got := nearestMarker(name, names); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
