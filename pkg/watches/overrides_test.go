package watches

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAddOverrides(t *testing.T) {
	t.Parallel()
	const head = "# kinds\n- group: example.com\n  version: v1\n  kind: Shop # main\n  chart: helm-charts/shop\n"
	const tail = "  # about the entry\n\n- group: example.com\n  version: v1\n  kind: Other\n  chart: helm-charts/other\n# +kubebuilder:scaffold:watch\n"
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}
	values := map[string]string{"image.tag": `{{ "${X}" | splitList ":" | last }}`, "a": "${A}"}
	const a, tag = "a: ${A}\n", "image.tag: '{{ \"${X}\" | splitList \":\" | last }}'\n"
	for name, test := range map[string]struct{ before, after string }{
		"none":     {head + tail, head + "  # about the entry\n  overrideValues:\n    " + a + "    " + tag + strings.TrimPrefix(tail, "  # about the entry\n")},
		"some":     {head + "  overrideValues:\n      a: mine\n" + tail, head + "  overrideValues:\n      a: mine\n      " + tag + tail},
		"all":      {head + "  overrideValues: {a: x, image.tag: y}\n" + tail, head + "  overrideValues: {a: x, image.tag: y}\n" + tail},
		"no chars": {head + "  overrideValues: {a: x}\n" + tail, ""},
		"empty":    {head + "  overrideValues:\n" + tail, ""},
		"crlf":     {strings.ReplaceAll(head, "\n", "\r\n"), strings.ReplaceAll(head+"  overrideValues:\n    "+a+"    "+tag, "\n", "\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := AddOverrides([]byte(test.before), gvk, values)
			if test.after == "" {
				if err == nil {
					t.Fatalf("no error:\n%s", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.after)
			}
			again, err := AddOverrides(got, gvk, values)
			if err != nil || string(again) != string(got) {
				t.Errorf("again: %v\n%s", err, again)
			}
		})
	}
	if _, err := AddOverrides([]byte(head), schema.GroupVersionKind{Version: "v1", Kind: "None"}, values); err == nil || !strings.Contains(err.Error(), "no entry for") {
		t.Errorf("other kind: %v", err)
	}
}
