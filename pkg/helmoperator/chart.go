package helmoperator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	loader "helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// A chartSource is a chart that is loaded at its first use, and again when its files have changed.
type chartSource struct {
	dir string // a directory or an archive; empty if the chart is given

	mu    sync.Mutex
	chart *chartv2.Chart
	// files identifies the version of the files that chart was loaded from.
	files string
}

// load returns the chart. Callers must not change it.
func (s *chartSource) load() (*chartv2.Chart, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return s.chart, nil
	}
	files, err := describeFiles(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("chart %q: not found", s.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("loading the chart: %w", err)
	}
	if s.chart != nil && files == s.files {
		return s.chart, nil
	}
	chart, err := loader.Load(s.dir)
	if err != nil {
		return nil, fmt.Errorf("loading the chart: %w", err)
	}
	s.chart, s.files = chart, files
	return chart, nil
}

// crdPolicy returns what happens to the CRDs of the chart of a reconciler: policy, or the default for its source.
func (s *chartSource) crdPolicy(policy release.CRDPolicy) release.CRDPolicy {
	switch {
	case policy != "":
		return policy
	case s.dir != "":
		return release.CRDsCreateReplace
	}
	return release.CRDsCreate
}

// last returns the chart that was loaded last, or nil. It serves deletions, which need no current chart.
func (s *chartSource) last() *chartv2.Chart {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chart
}

// describeFiles returns the names, sizes and times of the files of a chart.
func describeFiles(path string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// In a mounted ConfigMap, files are links.
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return nil
		}
		fmt.Fprintf(&b, "%s\x00%d\x00%d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return b.String(), err
}
