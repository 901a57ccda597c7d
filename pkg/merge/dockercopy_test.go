package merge

import (
	"strings"
	"testing"
)

// Instructions of theirs that copy what ours copies already aren't added, whatever the flags, the form and the order in ours.
func TestCopiesOnce(t *testing.T) {
	t.Parallel()
	const runtime = `ARG IMAGE=example.com/operator
FROM ${IMAGE}

ENV HOME=/opt/helm
WORKDIR ${HOME}
COPY watches.yaml ./
COPY helm-charts ./helm-charts
`
	const program = `FROM golang:1.26 AS builder
WORKDIR /workspace
COPY go.mod go.sum ./
COPY . .

FROM gcr.io/distroless/static:nonroot
WORKDIR /
COPY --from=builder /workspace/manager .
`
	for _, test := range []struct {
		name, theirs, ours string
		added              []string
	}{
		{"flags", runtime, "FROM ${IMAGE}\nENV HOME=/opt/helm\nCOPY --chmod=0644 watches.yaml ${HOME}/watches.yaml\nCOPY --chmod=0755 --link helm-charts  ${HOME}/helm-charts\n", nil},
		{"no home", runtime, "FROM ${IMAGE}\nCOPY --chown=1001:0 watches.yaml $HOME/watches.yaml\nCOPY --chmod=0755 helm-charts/ \"${HOME}/helm-charts/\"\n", nil},
		{"order", runtime, "FROM ${IMAGE}\nENV HOME /opt/helm\nWORKDIR /opt/helm\nCOPY --chmod=0755 ./helm-charts helm-charts\nCOPY --chmod=0644 watches.yaml .\n", nil},
		{"list", runtime, "FROM ${IMAGE}\nCOPY [\"watches.yaml\", \"/opt/helm/\"]\nADD --chmod=755 helm-charts \\\n  /opt/helm/helm-charts\n", nil},
		{"everything", runtime, "FROM ${IMAGE}\nCOPY --chmod=0755 . /opt/helm\n", nil},
		{"several", runtime, "FROM ${IMAGE}\nCOPY --chmod=0755 watches.yaml values.yaml /opt/helm/\nCOPY --link /helm-charts /opt/helm/helm-charts\n", nil},
		{"unedited", runtime, "FROM ${IMAGE}\nCOPY roles /opt/helm/roles\nCOPY watches.yaml ${HOME}/watches.yaml\nCOPY --chmod=0755 helm-charts ${HOME}/helm-charts\n", []string{"COPY watches.yaml ./"}},
		{"other target", runtime, "FROM ${IMAGE}\nCOPY --chmod=0755 watches.yaml /etc/op/watches.yaml\n", []string{"COPY watches.yaml ./", "COPY helm-charts ./helm-charts"}},
		{"other name", runtime, "FROM ${IMAGE}\nCOPY --chmod=0755 my-watches.yaml /opt/helm/watches.yaml\nCOPY helm-charts-old /opt/helm/helm-charts\n", []string{"COPY watches.yaml ./", "COPY helm-charts ./helm-charts"}},
		{"content only", runtime, "FROM ${IMAGE}\nCOPY --chmod=0755 helm-charts /opt/helm\n", []string{"COPY watches.yaml ./", "COPY helm-charts ./helm-charts"}},
		{"part", runtime, "FROM ${IMAGE}\nCOPY --chmod=0755 helm-charts/app /opt/helm/helm-charts/app\n", []string{"COPY watches.yaml ./", "COPY helm-charts ./helm-charts"}},
		{"other stage", runtime, "FROM ${IMAGE}\nCOPY --from=fetched watches.yaml /opt/helm/watches.yaml\n", []string{"COPY watches.yaml ./", "COPY helm-charts ./helm-charts"}},
		{
			"program", program,
			"FROM golang:1.26 AS builder\nWORKDIR /workspace\nCOPY --link go.mod go.mod\nCOPY --link go.sum go.sum\nCOPY --link . /workspace\n\n" +
				"FROM gcr.io/distroless/static:nonroot\nWORKDIR /\nCOPY --from=builder --chmod=0555 /workspace/manager /manager\n", nil,
		},
	} {
		base, err := newBase("Dockerfile", []byte("FROM ${IMAGE}\nCOPY watches.yaml ${HOME}/watches.yaml\n"))
		if err != nil {
			t.Fatal(err)
		}
		merged, _, err := MergeFile("Dockerfile", []byte(test.ours), []byte(test.theirs), base, Options{Side: Ours})
		if err != nil {
			t.Fatal(err)
		}
		var added []string
		for line := range strings.Lines(string(merged)) {
			if strings.HasPrefix(line, "COPY") && !strings.Contains(test.ours, line) {
				added = append(added, strings.TrimSpace(line))
			}
		}
		if strings.Join(added, "\n") != strings.Join(test.added, "\n") {
			t.Errorf("%s: added %q, want %q, in\n%s", test.name, added, test.added, merged)
		}
	}
}
