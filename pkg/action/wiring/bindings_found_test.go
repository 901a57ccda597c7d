package wiring

import "testing"

func TestIsNameIn(t *testing.T) {
	for _, test := range []struct {
		template string
		want     bool
	}{
		{"reader", true},
		{"p-reader", true},
		{"preader", false},
		{"metrics", false},
		{`{{ include "p.fullname" . }}-reader`, true},
		{`{{ .Release.Name }}-p-reader`, true},
		{`{{ include "p.fullname" . }}-metrics`, false},
		{`{{ include "p.fullname" . }}`, true},
		{`{{ .Values.role }}`, true},
		{`{{ include "p.resourceName" (dict "suffix" "reader" "context" $) }}`, true},
		{`{{ include "p.resourceName" (dict "suffix" "metrics-auth-role" "context" $) }}`, false},
	} {
		if got := isNameIn(test.template, "reader"); got != test.want {
			t.Errorf("%s: %v", test.template, got)
		}
	}
}
