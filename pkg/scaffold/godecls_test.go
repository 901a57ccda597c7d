package scaffold

import (
	"strings"
	"testing"
)

const userFile = `package v1

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
)

// SetupXWebhookWithManager is edited.
func SetupXWebhookWithManager(mgr ctrl.Manager) error {
	fmt.Println("mine")
	return ctrl.NewWebhookManagedBy(mgr, &X{}).
		WithDefaulter(&XCustomDefaulter{}).
		Complete()
}

// +kubebuilder:webhook:path=/mine,mutating=true

// XCustomDefaulter is the user's.
type XCustomDefaulter struct{ Mine string } // mine
`

const scaffoldedWebhook = `package v1

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func SetupXWebhookWithManager(mgr ctrl.Manager) error { return nil }

// +kubebuilder:webhook:path=/new,mutating=true

// XCustomDefaulter is new.
type XCustomDefaulter struct{}

// +kubebuilder:webhook:path=/validate,mutating=false

// XCustomValidator is new.
type XCustomValidator struct{}

// ValidateCreate is new.
func (v *XCustomValidator) ValidateCreate(context.Context) (admission.Warnings, error) { return nil, nil }
`

func TestMergeDeclarations(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"\n", "\r\n"} {
		have := strings.ReplaceAll(userFile, "\n", ends)
		out, err := mergeDeclarations("x.go", []byte(have), []byte(scaffoldedWebhook), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := string(out)
		_, body, _ := strings.Cut(have, ")"+ends)
		if !strings.Contains(got, body) {
			t.Errorf("the user's declarations changed:\n%s", got)
		}
		for _, want := range []string{"\t\"context\"" + ends, "path=/validate", "XCustomValidator) ValidateCreate", "pkg/webhook/admission"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%q is there %d times:\n%s", want, strings.Count(got, want), got)
			}
		}
		if strings.Contains(got, "path=/new") {
			t.Errorf("what is there was added again:\n%s", got)
		}
		again, err := mergeDeclarations("x.go", out, []byte(scaffoldedWebhook), nil)
		if err != nil || string(again) != got {
			t.Errorf("a second time changes the file (%v):\n%s", err, again)
		}
	}
}

func TestMergeDeclarationsReplaces(t *testing.T) {
	t.Parallel()
	out, err := mergeDeclarations("x.go", []byte(userFile), []byte(scaffoldedWebhook),
		func(d string) bool { return d == "type XCustomDefaulter" })
	if err != nil {
		t.Fatal(err)
	}
	got := string(out)
	if strings.Contains(got, "path=/mine") || strings.Count(got, "path=/new") != 1 || !strings.Contains(got, `fmt.Println("mine")`) {
		t.Errorf("only the defaulter is to be replaced:\n%s", got)
	}
}

func TestMergeDeclarationsRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"package v1\nfunc (": "x.go:2:",
		"package other\n":    "package other, but the scaffold needs v1",
		"package v1\n\nimport (\n\tadmission \"example.com/mine\"\n)\n\nvar _ admission.T\n": "the name admission refers to example.com/mine here",
	} {
		if _, err := mergeDeclarations("x.go", []byte(text), []byte(scaffoldedWebhook), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestWireWebhooks(t *testing.T) {
	t.Parallel()
	data := Data{Resource: Resource{Kind: "X"}, Webhook: Webhook{Defaulting: true, Validation: true, ValidationPath: "/v", CustomValidationPath: true}}
	for text, want := range map[string]string{
		"ctrl.NewWebhookManagedBy(mgr, &X{}).\n\t\tComplete()": "ctrl.NewWebhookManagedBy(mgr, &X{}).\n\t\tWithDefaulter(&XCustomDefaulter{}).\n" +
			"\t\tWithValidator(&XCustomValidator{}).\n\t\tWithValidatorCustomPath(\"/v\").\n\t\tComplete()",
		"ctrl.NewWebhookManagedBy(mgr).For(&X{}).\n\t\tWithDefaulter(&mine{}).\n\t\tComplete()": "ctrl.NewWebhookManagedBy(mgr).For(&X{}).\n" +
			"\t\tWithValidator(&XCustomValidator{}).\n\t\tWithValidatorCustomPath(\"/v\").\n\t\tWithDefaulter(&mine{}).\n\t\tComplete()",
	} {
		const head = "package v1\n\nfunc SetupXWebhookWithManager(mgr ctrl.Manager) error {\n\treturn "
		got, err := wireWebhooks("x.go", []byte(head+text+"\n}\n"), data)
		if err != nil || string(got) != head+want+"\n}\n" {
			t.Errorf("got (%v)\n%s\nwant\n%s", err, got, head+want)
		}
	}
	if _, err := wireWebhooks("x.go", []byte("package v1\n"), data); err == nil || !strings.Contains(err.Error(), "WithValidator(&XCustomValidator{})") {
		t.Errorf("a file without the function: %v", err)
	}
}
