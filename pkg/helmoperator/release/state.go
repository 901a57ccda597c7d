package release

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A state is a stored revision, with what comparisons need to know about it.
type state struct {
	// record identifies the record and its version.
	record       string
	revision     *releasev1.Release
	situation    situation
	fingerprints map[string]string
	// pendingTest is the action whose result is to be tested; empty if none.
	pendingTest Action

	mutex sync.Mutex
	// deployed is the public description, once it is complete.
	deployed *Deployed
	// settled is the last comparison without differences.
	settled *settledPlan
}

// A settledPlan is a plan without action, with all that it was derived from.
type settledPlan struct {
	chart        *chartv2.Chart
	values       [sha256.Size]byte
	capabilities *common.Capabilities
	dryRun       string
	plan         Plan
}

func (r *Release) stateOf(revisions []*releasev1.Release, revision *releasev1.Release) *state {
	s := &state{
		record: recordID(revision.Version, r.recordVersions[revision.Version]), revision: revision,
		situation: situationOf(revisions, revision), fingerprints: r.fingerprints[revision.Version],
	}
	if r.tests[revision.Version] == testPending {
		if s.pendingTest = Upgrade; s.situation.install {
			s.pendingTest = Install
		}
	}
	return s
}

func recordID(revision int, version string) string { return strconv.Itoa(revision) + "/" + version }

// byOwner holds what is kept of releases between passes, by the UID of their custom resource.
type byOwner[T any] struct {
	mutex  sync.Mutex
	values map[types.UID]T
}

func (b *byOwner[T]) get(owner types.UID) T {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.values[owner]
}

func (b *byOwner[T]) set(owner types.UID, value T) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.values == nil {
		b.values = map[types.UID]T{}
	}
	b.values[owner] = value
}

func (b *byOwner[T]) remove(owner types.UID) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.values, owner)
}

// remove removes what is known about a release.
func (f *Factory) remove(owner types.UID) {
	f.states.remove(owner)
	f.verified.remove(owner)
}

// recordList is the metadata of the records of a release.
const recordList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

// settledState returns the state of the deployed revision if it is the last one, or nil. It reads only metadata if the record has not
// changed since the last call: a record contains the chart, and is decompressed and parsed.
func (r *Release) settledState(ctx context.Context) (*state, error) {
	var list metav1.PartialObjectMetadataList
	data, err := r.factory.core.RESTClient().Get().Namespace(r.namespace).Resource("secrets").
		Param("labelSelector", "owner=helm,name="+r.name).SetHeader("Accept", recordList).DoRaw(ctx)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, r.errorf("read its history: %w", err)
	}
	last, record := 0, ""
	for _, item := range list.Items {
		r.readOwners(item.OwnerReferences)
		if version, err := strconv.Atoi(item.Labels["version"]); err == nil && version > last {
			last, record = version, ""
			if item.Labels["status"] == rcommon.StatusDeployed.String() {
				record = recordID(version, item.ResourceVersion)
			}
		}
	}
	if record == "" {
		return nil, nil
	}
	if known := r.factory.states.get(r.owner.uid); known != nil && known.record == record {
		r.pendingTest = known.pendingTest
		return known, nil
	}
	revisions, err := r.history()
	if err != nil {
		return nil, err
	}
	revision := lastOf(revisions)
	if revision == nil || revision.Info.Status != rcommon.StatusDeployed {
		return nil, nil
	}
	current := r.stateOf(revisions, trim(revision))
	r.pendingTest = current.pendingTest
	r.factory.states.set(r.owner.uid, current)
	return current, nil
}

// trim returns a revision without what comparisons do not need.
func trim(revision *releasev1.Release) *releasev1.Release {
	trimmed := *revision
	trimmed.Config, trimmed.Hooks = nil, laterHooks(revision.Hooks)
	if revision.Chart != nil {
		trimmed.Chart = &chartv2.Chart{Metadata: revision.Chart.Metadata}
	}
	return &trimmed
}

// describe returns the public description of the revision.
func (s *state) describe(r *Release) (*Deployed, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.deployed == nil {
		deployed, unserved, err := r.deployedFrom(s.revision)
		if err != nil || unserved {
			return deployed, err
		}
		s.deployed = deployed
	}
	copied := *s.deployed
	copied.Objects = slices.Clone(copied.Objects)
	return &copied, nil
}

// settledPlan returns the last plan, if it was derived from the same chart, values and cluster.
func (s *state) settledPlan(r *Release) (*Plan, *settledPlan) {
	found, err := r.factory.capabilities.get(r.factory.discovery)
	values, marshalErr := json.Marshal(r.options.Values)
	if err != nil || marshalErr != nil || r.options.PostRender != nil {
		return nil, nil
	}
	current := &settledPlan{chart: r.options.Chart, values: sha256.Sum256(values), capabilities: found, dryRun: r.options.DryRun}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if known := s.settled; known != nil && known.chart == current.chart && known.values == current.values &&
		known.capabilities == current.capabilities && known.dryRun == current.dryRun {
		return &known.plan, nil
	}
	return nil, current
}

// settle records a plan without action.
func (s *state) settle(settled *settledPlan, plan Plan) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	settled.plan = plan
	s.settled = settled
}
