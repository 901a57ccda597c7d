package release

import (
	"crypto/sha256"
	"sync"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// crdAge is the time after which a CRD is read again if it is not observed.
const crdAge = time.Minute

// crdStates is what a process knows about CRDs. All releases share it: at rest, a CRD is read once, not once for each release.
type crdStates struct {
	// apply is held while a CRD is compared and applied.
	apply sync.Mutex

	mutex    sync.Mutex
	files    map[schema.GroupVersionKind]*parsedCRDs
	verified map[crdKey]verifiedCRD
	// written are the digests of the CRDs that this process has written, by name.
	written map[string]string
}

// parsedCRDs are the objects of files of a chart.
type parsedCRDs struct {
	chart *chartv2.Chart
	files map[*common.File][]chartCRD
}

// A crdKey identifies a CRD of the chart of a kind.
type crdKey struct {
	owner        schema.GroupKind
	name, digest string
}

// A verifiedCRD is the state of a CRD in which nothing is to be done.
type verifiedCRD struct {
	live [sha256.Size]byte
	at   time.Time
	// report is set if the CRD differs and is left as it is.
	report *CRDReport
}

// parse returns the objects of a file of the chart of a kind.
func (s *crdStates) parse(kind schema.GroupVersionKind, chart *chartv2.Chart, crd chartv2.CRD) ([]chartCRD, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	parsed := s.files[kind]
	if parsed == nil || parsed.chart != chart {
		if s.files == nil {
			s.files = map[schema.GroupVersionKind]*parsedCRDs{}
		}
		parsed = &parsedCRDs{chart, map[*common.File][]chartCRD{}}
		s.files[kind] = parsed
	}
	if crds, ok := parsed.files[crd.File]; ok {
		return crds, nil
	}
	crds, err := parseCRDs(crd)
	if err == nil {
		parsed.files[crd.File] = crds
	}
	return crds, err
}

func (s *crdStates) get(key crdKey) (verifiedCRD, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, ok := s.verified[key]
	return found, ok
}

// verify records that nothing is to be done about a CRD.
func (s *crdStates) verify(key crdKey, live metav1.Object, report *CRDReport) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.verified == nil {
		s.verified = map[crdKey]verifiedCRD{}
	}
	for other := range s.verified { // of earlier versions of the chart
		if other.owner == key.owner && other.name == key.name && other != key {
			delete(s.verified, other)
		}
	}
	s.verified[key] = verifiedCRD{liveHash(live), time.Now(), report}
}

func (s *crdStates) forget(key crdKey) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.verified, key)
}

// isVerified reports whether the metadata of a CRD are those after the last comparison for a kind.
func (s *crdStates) isVerified(owner schema.GroupKind, live metav1.Object) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for key, state := range s.verified {
		if key.owner == owner && key.name == live.GetName() {
			return state.live == liveHash(live)
		}
	}
	return false
}

// wrote records the digest of a CRD that was written.
func (s *crdStates) wrote(name, digest string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.written == nil {
		s.written = map[string]string{}
	}
	s.written[name] = digest
}

func (s *crdStates) lastWritten(name string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.written[name]
}

// IsCurrentCRD reports whether the metadata of a CRD are those after the last comparison with the chart of a kind, so that its
// releases need no pass because of it.
func (f *Factory) IsCurrentCRD(kind schema.GroupKind, live metav1.Object) bool {
	return f.crds.isVerified(kind, live)
}
