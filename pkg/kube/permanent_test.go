package kube

import (
	"slices"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
)

func TestPodFailure(t *testing.T) {
	t.Parallel()
	const (
		backOff = "state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image \"a/b:c\": ErrImagePull: "
		loop    = "state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: "
	)
	for _, row := range []struct{ name, meta, status, want string }{
		{"no such image", "", backOff + "failed to resolve reference: not found'}}", "the image a/b:c of container m cannot be pulled"},
		{"no access", "", backOff + "failed to authorize: 401 Unauthorized'}}", "the image a/b:c of container m cannot be pulled"},
		{"registry away", "", backOff + "dial tcp: connection refused'}}", ""},
		{"first attempt", "", "state: {waiting: {reason: ErrImagePull, message: not found}}", ""},
		{"bad name", "", "state: {waiting: {reason: InvalidImageName}}", "the image a/b:c of container m cannot be pulled"},
		{"ended four times", "", loop + "2}}, restartCount: 3", "container m has exited 4 times, with code 2"},
		{"ended three times", "", loop + "2}}, restartCount: 2", ""},
		{"ended well", "", loop + "0}}, restartCount: 9", ""},
		{"runs again", "", "state: {running: {}}, lastState: {terminated: {exitCode: 2}}, restartCount: 9", ""},
		{"on its way out", ", deletionTimestamp: '2026-01-01T00:00:00Z'", loop + "2}}, restartCount: 3", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
				text, err := sigsyaml.YAMLToJSON([]byte("{apiVersion: v1, kind: Pod, metadata: {name: p" + row.meta + "}, status: {" + list + ": [{name: m, image: 'a/b:c', " + row.status + "}]}}"))
				if err != nil {
					t.Fatal(err)
				}
				pod, err := decodeObject(text)
				if err != nil {
					t.Fatal(err)
				}
				if got := PodFailure(pod); strings.TrimPrefix(got, "pod p: ") != row.want {
					t.Errorf("%s: %q, want %q", list, got, row.want)
				}
			}
		})
	}
}

func TestRelevantLines(t *testing.T) {
	t.Parallel()
	usage := strings.Repeat("  -x value\n", 20)
	for _, row := range []struct {
		name, log string
		want      []string
	}{
		{"short", "one\r\ntwo\n", []string{"one", "two"}},
		{"unknown flag", "starts\nflag provided but not defined: -y\n" + usage, append([]string{"flag provided but not defined: -y"}, slices.Repeat([]string{"  -x value"}, 8)...)},
		{"no more than three", strings.Repeat("ERROR\n", 9) + usage, append([]string{"ERROR", "ERROR", "ERROR"}, slices.Repeat([]string{"  -x value"}, 8)...)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := relevantLines(row.log); !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
