package stage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
)

// auditLine returns an event of the manager, as an API server logs it.
func auditLine(verb, resource, decision string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":%q,`+
		`"requestURI":"/api/v1/namespaces/app-system/%s?limit=500","user":{"username":"system:serviceaccount:app-system:manager","groups":["x"]},`+
		`"objectRef":{"resource":%q,"namespace":"app-system","apiVersion":"v1"},"responseStatus":{"code":200},`+
		`"requestReceivedTimestamp":"2026-01-02T03:04:05.678901Z","annotations":{"authorization.k8s.io/decision":%q}}`, verb, resource, resource, decision)
}

// TestReadAudit checks what is read, of an operator that runs in another namespace here.
func TestReadAudit(t *testing.T) {
	t.Parallel()
	allowed, forbidden := auditLine("list", "pods", "allow"), auditLine("delete", "pods", "forbid")
	other := strings.Replace(allowed, "app-system:manager", "other:manager", 1)
	as := strings.Replace(other, `"objectRef"`, `"impersonatedUser":{"username":"system:serviceaccount:app-system:manager"},"objectRef"`, 1)
	received := strings.Replace(allowed, "ResponseComplete", "RequestReceived", 1)
	const list = "03:04:05 list pods default/ limit=500"
	for name, test := range map[string]struct {
		log  string
		want []string
	}{
		"lines":         {allowed + "\n" + other + "\r\n" + received + "\n\n" + forbidden + "\n" + as, []string{list, "denied: delete pods in the namespace default", list}},
		"list":          {`{"apiVersion":"audit.k8s.io/v1","metadata":{},"items":[` + "\n" + allowed + ",\n" + forbidden + `],"kind":"EventList"}`, []string{list, "denied: delete pods in the namespace default"}},
		"array":         {"[" + allowed + "]", []string{list}},
		"empty":         {},
		"broken line":   {allowed + "\n" + allowed[:40] + "}\n", []string{list, "audit.log:2: invalid character '\\n' in string literal"}},
		"text":          {allowed + "\n\nhello\n", []string{list, "audit.log:3: invalid character 'h' looking for beginning of value"}},
		"end":           {allowed + "\n" + allowed[:300], []string{list, "audit.log:2: ends within an event"}},
		"other objects": {allowed + "\n\n" + `{"kind":"Pod"}`, []string{list, "audit.log:3: is a Pod, and not an Event of an audit log"}},
		"no kind":       {allowed + "\n" + `{"level":"info"}`, []string{list, "audit.log:2: is not an Event of an audit log"}},
		"number":        {"12", []string{"audit.log:1: is not an Event of an audit log"}},
		"wrong field":   {"[\n" + strings.Replace(allowed, `"list"`, "12", 1) + "]", []string{"audit.log:2: the field Verb is a number"}},
	} {
		p := &Permissions{Namespace: "default", ServiceAccount: "manager", deployed: "app-system"}
		var got []string
		err := p.readAudit("audit.log", strings.NewReader(test.log), func(r gateway.Record) {
			if d, denied := DenialOf(r); denied {
				got = append(got, "denied: "+d.String())
				return
			}
			got = append(got, r.Start.Format("15:04:05")+" "+r.Request.String()+" "+r.Query)
		})
		if err != nil {
			got = append(got, err.Error())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, test.want)
		}
	}
}
