package scaffold

import (
	"strings"
	"testing"
)

const (
	cutKept = `// Copyright of the author.

package v1

import (
	"context"

	ctrl "example.com/ctrl"
)

// SetupKindWebhookWithManager sets up.
func SetupKindWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).
		WithDefaulter(&KindCustomDefaulter{}).
		Complete()
}

// KindCustomDefaulter sets defaults.
type KindCustomDefaulter struct{}

func (*KindCustomDefaulter) Default(context.Context) error { return nil }
`
	cutGoing = `// Copyright of the author.

package v1

import (
	"context"

	"example.com/admission"
	ctrl "example.com/ctrl"
)

// SetupKindWebhookWithManager sets up.
func SetupKindWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).
		WithValidator(&KindCustomValidator{}).
		WithValidatorCustomPath("/here").
		Complete()
}

// KindCustomValidator rejects.
type KindCustomValidator struct{}

// Validate is called.
func (*KindCustomValidator) Validate(context.Context) admission.Warnings { return nil }
`
)

// both is the file after the scaffold of validation was added to the one of defaulting.
func both(t *testing.T, have string) string {
	t.Helper()
	merged, err := mergeDeclarations("kind_webhook.go", []byte(have), []byte(cutGoing), nil)
	if err != nil {
		t.Fatal(err)
	}
	data := Data{Resource: Resource{Kind: "Kind"}, Webhook: Webhook{Validation: true, CustomValidationPath: true, ValidationPath: "/here"}}
	wired, err := wireWebhooks("kind_webhook.go", merged, data)
	if err != nil {
		t.Fatal(err)
	}
	return string(wired)
}

// TestCutDeclarations checks that declarations are cut out of files as they were merged into them, whatever a
// person has around them.
func TestCutDeclarations(t *testing.T) {
	t.Parallel()
	for name, have := range map[string]string{
		"as scaffolded":    cutKept,
		"carriage returns": strings.ReplaceAll(cutKept, "\n", "\r\n"),
		"user code":        cutKept + "\n// mine is mine.\nfunc mine(c context.Context) { _ = c }\n\n// The end.\n",
		"edited defaults":  strings.Replace(cutKept, "{ return nil }", "{ return mine() }", 1),
		"not formatted":    strings.Replace(cutKept, "type KindCustomDefaulter struct{}", "type  KindCustomDefaulter  struct{}", 1),
	} {
		cut, err := cutDeclarations("kind_webhook.go", []byte(both(t, have)), [][]byte{[]byte(cutGoing)}, [][]byte{[]byte(cutKept)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, want := string(cut.rest), have
		if name == "not formatted" { // white space around what was cut is not ours to mend then
			got, want = withoutSpace(got), withoutSpace(want)
		}
		if got != want || len(cut.edited) > 0 {
			t.Errorf("%s: edited %q, left:\n%s", name, cut.edited, cut.rest)
		}
	}
}

// TestCutEdited checks that edits of removed declarations are reported, and edits of others are not.
func TestCutEdited(t *testing.T) {
	t.Parallel()
	file := both(t, cutKept)
	all := [][]byte{[]byte(cutKept), []byte(cutGoing)}
	for _, test := range []struct {
		old, text string
		some, all []string
	}{
		{"", "", nil, nil},
		{"KindCustomValidator struct{}", "KindCustomValidator struct{ mine int }", []string{"kind_webhook.go:26 (type KindCustomValidator)"}, []string{"kind_webhook.go"}},
		{"&KindCustomValidator{}", "&KindCustomValidator{1}", []string{"kind_webhook.go:15 (WithValidator(&KindCustomValidator{1}))"}, []string{"kind_webhook.go"}},
		{"Complete()", "RecoverPanic(true).\n\t\tComplete()", nil, []string{"kind_webhook.go"}},
		{"// SetupKind", "// Mine.\n// SetupKind", nil, []string{"kind_webhook.go"}},
		{"// Copyright of the author.", "// Copyright of another.", nil, []string{"kind_webhook.go"}},
		{"\t\"context\"\n", "\t\"context\"\n\t_ \"embed\"\n", nil, []string{"kind_webhook.go"}},
		{"// KindCustomDefaulter sets", "var mine int\n\n// KindCustomDefaulter sets", nil, []string{"kind_webhook.go"}},
	} {
		if !strings.Contains(file, test.old) {
			t.Fatalf("%q is not in:\n%s", test.old, file)
		}
		edited := []byte(strings.Replace(file, test.old, test.text, 1))
		some, err := cutDeclarations("kind_webhook.go", edited, all[1:], all[:1], nil)
		if err != nil {
			t.Fatal(err)
		}
		complete, err := cutDeclarations("kind_webhook.go", edited, all, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if some.edited.Error() != strings.Join(test.some, "\n") || SortPlaces(complete.edited).Error() != strings.Join(test.all, "\n") || complete.rest != nil {
			t.Errorf("%q: some %q, all %q", test.text, some.edited, complete.edited)
		}
	}
}
