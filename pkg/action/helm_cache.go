package action

import (
	"encoding/json"
	"slices"
	"strings"
)

// deriveOnce sets value, which has a form in JSON, to what derive derives from charts, or to what it derived the last time: rendering
// a large chart takes seconds. The key identifies the input of derive.
func (p *Project) deriveOnce(kind string, key []string, value any, derive func() error) error {
	builds := []string{p.Build, p.Charts.BuildID()}
	cached := !slices.Contains(builds, "")
	name := strings.Join(append(builds, key...), "\n")
	if cached && json.Unmarshal(p.records().Get(kind, name), value) == nil {
		return nil
	}
	if err := derive(); err != nil || !cached {
		return err
	}
	if data, err := json.Marshal(value); err == nil {
		p.records().Put(kind, name, data)
	}
	return nil
}
