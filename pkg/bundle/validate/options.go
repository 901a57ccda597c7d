package validate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Select sets the options to the values of --select-optional and --optional-values. Paths are relative to dir.
func (o *Options) Select(selector string, values []string, dir string) (findings diag.Findings) {
	if selector != "" {
		parsed, err := labels.Parse(selector)
		if err != nil {
			findings.Add("--select-optional", selector, "is not a valid label selector: "+err.Error())
		}
		o.Selector = parsed
	}
	o.Values = map[string]string{}
	for _, given := range values {
		pairs := []string{strings.Trim(given, `"`)}
		if strings.Count(given, "=") > 1 { // a comma belongs to the value of a single pair, as in operator-sdk
			read, err := csv.NewReader(strings.NewReader(given)).Read()
			if err == nil {
				pairs = read
			}
		}
		for _, pair := range pairs {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				findings.Add("--optional-values", pair, "must be key=value, such as k8s-version=1.30")
				continue
			}
			o.Values[key] = value
		}
	}
	if path := o.Values["index-path"]; path != "" && !filepath.IsAbs(path) {
		o.Values["index-path"] = filepath.Join(dir, path)
		o.Rename = strings.NewReplacer(o.Values["index-path"], path)
	}
	return findings
}

// ParseCategories parses a JSON file with categories that replace the standard ones.
func ParseCategories(data []byte) ([]string, error) {
	var own struct{ Categories []string }
	if err := json.Unmarshal(data, &own); err != nil {
		return nil, fmt.Errorf(`must be JSON such as {"categories": ["Database"]}: %w`, err)
	}
	return append([]string{}, own.Categories...), nil
}

// ParseExternal parses the output of an external validator.
func ParseExternal(program string, output []byte) (result apierrors.ManifestResult, err error) {
	decoder := json.NewDecoder(bytes.NewReader(output))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&result); err != nil {
		return result, fmt.Errorf("the validator %s prints no result: %w", program, err)
	}
	return result, nil
}
