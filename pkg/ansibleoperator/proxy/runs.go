package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/operon-sdk/operon/pkg/dependents"
)

// An Owner is the custom resource of a run.
type Owner struct {
	schema.GroupVersionKind
	// Namespace is empty if the kind is cluster-scoped.
	Namespace, Name string
	UID             types.UID
}

// Settings come from an entry of watches.yaml.
type Settings struct {
	// Namespace is the one in the kubeconfig of the run; empty is the owner's.
	Namespace string
	// Blacklist are the kinds that are neither watched nor cached.
	Blacklist []schema.GroupVersionKind
	// WatchDependents requeues owners after changes of objects with an owner reference, and WatchClusterScoped after changes of objects
	// with owner annotations, which are cluster-scoped or in other namespaces.
	WatchDependents, WatchClusterScoped bool
	// CacheReads allows reads of single objects to be answered from the cache.
	CacheReads bool
	// Requeue is called after an object of an owner has changed, except by a run of the owner. The next run should begin after the
	// delay. It returns false if it did not accept the request, for which the next change repeats it. It must not block. All registrations
	// of owners of the same kind replace it.
	Requeue func(owner types.NamespacedName, after time.Duration) bool
	// Secret is called with each Secret that the run reads or writes, as decoded JSON, except in watches; nil if nobody is
	// interested. It may be called concurrently, and must not change the Secret.
	Secret func(secret map[string]any)
}

// tokenHash is what the proxy keeps of a token.
type tokenHash [sha256.Size]byte

// A run is a registration.
type run struct {
	owner    Owner
	settings Settings
	// ctx ends with the run.
	ctx context.Context //nolint:containedctx // It ends requests that the run leaves open.
}

// Register adds a run and returns its kubeconfig, which contains a token that is valid until release is called. release also ends
// the open requests of the run.
func (p *Proxy) Register(owner Owner, settings Settings) (kubeconfig []byte, release func(), err error) {
	if owner.Name == "" || owner.UID == "" || owner.Kind == "" || owner.Version == "" {
		return nil, nil, errors.New("owner: version, kind, name and UID are required")
	}
	token := rand.Text()
	if kubeconfig, err = p.kubeconfig(cmp.Or(settings.Namespace, owner.Namespace), token); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	hash := tokenHash(sha256.Sum256([]byte(token)))
	p.mu.Lock()
	p.addOwnerKinds(owner.GroupKind())
	p.kinds[owner.GroupKind()] = ownerKind{settings: settings, clusterScoped: owner.Namespace == ""}
	p.state(owner.key()).begin()
	p.runs[hash] = &run{owner, settings, ctx}
	p.mu.Unlock()
	return kubeconfig, sync.OnceFunc(func() {
		p.mu.Lock()
		delete(p.runs, hash)
		p.mu.Unlock()
		cancel()
		p.endRun(owner.key())
	}), nil
}

func (p *Proxy) kubeconfig(namespace, token string) ([]byte, error) {
	const name = "ansible-operator"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server: fmt.Sprintf("https://127.0.0.1:%d", p.Port()), CertificateAuthorityData: p.identity.authority,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// authenticate returns the run of a request; nil if its token is missing or not valid.
func (p *Proxy) authenticate(r *http.Request) *run {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[sha256.Sum256([]byte(strings.TrimSpace(token)))]
}

// usesReference reports whether an object in a namespace, or a cluster-scoped one, can have an owner reference to o.
func (o Owner) usesReference(namespace string) bool {
	return o.Namespace == "" || o.Namespace == namespace
}

// reference returns the owner reference, as operator-sdk's proxy adds it: it is not the controller, as an object has only one.
func (o Owner) reference() metav1.OwnerReference {
	apiVersion, kind := o.ToAPIVersionAndKind()
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: o.Name, UID: o.UID}
}

func (o Owner) annotations() map[string]string {
	return dependents.OwnerAnnotations(o.GroupKind(), types.NamespacedName{Namespace: o.Namespace, Name: o.Name})
}
