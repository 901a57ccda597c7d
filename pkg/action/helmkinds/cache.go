package helmkinds

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
)

// deriveOnce sets value, which has a form in JSON, to what derive derives from charts, or to what it derived the last time: rendering
// a large chart takes seconds. The key identifies the input of derive.
func deriveOnce(p *action.Project, kind string, key []string, value any, derive func() error) error {
	builds := []string{p.Build, p.Charts.BuildID()}
	cached := !slices.Contains(builds, "")
	name := strings.Join(append(builds, key...), "\n")
	if cached && json.Unmarshal(p.Records().Get(kind, name), value) == nil {
		return nil
	}
	if err := derive(); err != nil || !cached {
		return err
	}
	if data, err := json.Marshal(value); err == nil {
		p.Records().Put(kind, name, data)
	}
	return nil
}
