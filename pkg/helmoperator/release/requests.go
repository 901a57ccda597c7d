package release

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
)

// dryRun is the parameter of requests that the server processes but does not store.
const dryRun = "All"

// request completes a request about an object.
func request(verb *rest.Request, info *resource.Info, named bool) *rest.Request {
	verb = verb.NamespaceIfScoped(info.Namespace, info.Namespaced()).Resource(info.Mapping.Resource.Resource)
	if named {
		verb = verb.Name(info.Name)
	}
	return verb
}

func restClient(info *resource.Info) rest.Interface { return info.Client.(rest.Interface) }

func (r *Release) get(ctx context.Context, info *resource.Info) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	return live, request(restClient(info).Get(), info, true).Do(ctx).Into(live)
}

func (r *Release) create(ctx context.Context, info *resource.Info) (*unstructured.Unstructured, error) {
	created := &unstructured.Unstructured{}
	post := request(restClient(info).Post(), info, false).Param("fieldManager", FieldManager).Body(info.Object)
	return created, post.Do(ctx).Into(created)
}

// patch patches an object, or returns the result of a dry run.
func (r *Release) patch(ctx context.Context, info *resource.Info, kind types.PatchType, patch []byte, dry bool) (*unstructured.Unstructured, error) {
	patched := &unstructured.Unstructured{}
	send := request(restClient(info).Patch(kind), info, true).Param("fieldManager", FieldManager).Body(patch)
	if dry {
		send = send.Param("dryRun", dryRun)
	}
	return patched, send.Do(ctx).Into(patched)
}

// delete deletes an object, if it is still the one that was read. Its dependents are deleted in the background.
func (r *Release) delete(ctx context.Context, info *resource.Info, live *unstructured.Unstructured) error {
	uid, policy := live.GetUID(), metav1.DeletePropagationBackground
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &policy}
	err := request(restClient(info).Delete(), info, true).Body(options).Do(ctx).Error()
	if isMissing(err) {
		return nil
	}
	return err
}
