package scaffold

import (
	"encoding/json"
	"encoding/xml"
	"path"
	"strings"
	"testing"
)

// TestIDEs checks that IDEs can read their configurations, in projects of each scope.
func TestIDEs(t *testing.T) {
	t.Parallel()
	for _, ide := range IDEs() {
		for _, namespaced := range []bool{false, true} {
			data, tree := renderData(), modTree(nil)
			data.Project.Namespaced = namespaced
			if err := AddIDE(tree, ide, data, false); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for name, content := range tree.Edits() {
				var v struct{} // only the syntax counts
				unmarshal := xml.Unmarshal
				if path.Ext(name) == ".json" {
					unmarshal = json.Unmarshal
				}
				if err := unmarshal(content, &v); err != nil {
					t.Errorf("%s: %v\n%s", name, err, content)
				}
				text.Write(content)
			}
			for want, found := range map[string]bool{"2345": true, ".operon/kubeconfig": true, "ENABLE_WEBHOOKS": true, "WATCH_NAMESPACE": namespaced} {
				if strings.Contains(text.String(), want) != found {
					t.Errorf("%s, namespaced %v: %s is in the files: %v", ide, namespaced, want, !found)
				}
			}
		}
	}
}
