package watches_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operon-sdk/operon/pkg/watches"
)

func TestRollout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]watches.Rollout{
		"    maxConcurrent: 10%\n    maxFailures: 2\n": {MaxConcurrent: intstr.FromString("10%"), MaxFailures: 2},
		"    maxConcurrent: 5\n":                       {MaxConcurrent: intstr.FromInt32(5)},
	} {
		helm := "- group: example.com\n  version: v1\n  kind: App\n  chart: a\n  rollout:\n" + text
		got, err := watches.Parse([]byte(helm))
		if err != nil || got[0].Rollout != want {
			t.Fatalf("%v, got %+v", err, got)
		}
		if written, err := watches.Add(nil, got[0]); err != nil || string(written) != helm {
			t.Errorf("%v, wrote\n%s", err, written)
		}
		ansible := "- version: v1\n  group: example.com\n  kind: App\n  role: a\n  rollout:\n" + text
		entries, err := watches.ParseAnsible("watches.yaml", []byte(ansible), noVariables)
		if err != nil || entries[0].Rollout != want {
			t.Fatalf("%v, got %+v", err, entries)
		}
		if written, err := watches.AddAnsible(nil, entries[0]); err != nil || string(written) != ansible {
			t.Errorf("%v, wrote\n%s", err, written)
		}
	}
}

func noVariables(string) (string, bool) { return "", false }

func TestRolloutFindings(t *testing.T) {
	t.Parallel()
	_, err := watches.Parse([]byte(`- {kind: A, version: v1, chart: a, rollout: 5}
- {kind: B, version: v1, chart: a, rollout: {maxFailures: -1}}
- {kind: C, version: v1, chart: a, rollout: {maxConcurent: 1, maxConcurrent: 0}}
- {kind: D, version: v1, chart: a, rollout: {maxConcurrent: 101%}}
- {kind: E, version: v1, chart: a, rollout: {maxConcurrent: [1]}}
- {kind: F, version: v1, chart: a, rollout: {maxConcurrent: 1.5%}}
`))
	const want = `watches.yaml:1:45: must have the key maxConcurrent, and can have maxFailures
watches.yaml:2:45: maxConcurrent is required
watches.yaml:2:59: must be a whole number, at least 0
watches.yaml:3:46: unknown key "maxConcurent"; did you mean "maxConcurrent"?
watches.yaml:3:78: "0": must be a whole number, at least 1, or a percentage from 1% to 100%
watches.yaml:4:61: "101%": must be a whole number, at least 1, or a percentage from 1% to 100%
watches.yaml:5:61: "": must be a whole number, at least 1, or a percentage from 1% to 100%
watches.yaml:6:61: "1.5%": must be a whole number, at least 1, or a percentage from 1% to 100%`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
