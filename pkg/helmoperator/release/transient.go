package release

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsTransient reports whether an error says nothing about the release: the API server can't be reached or is overloaded, a request
// timed out, or somebody else has changed an object at the same time. The operation is worth another attempt without a change. If
// one of several errors is not transient, neither are they. An error after the end of the context is for the caller to recognize.
func IsTransient(err error) bool {
	if isTooLarge(err) { // which etcd reports as an internal error
		return false
	}
	for err != nil {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			errs := many.Unwrap()
			for _, err := range errs {
				if err != nil && !IsTransient(err) {
					return false
				}
			}
			return len(errs) > 0
		}
		if isTransientCause(err) {
			return true
		}
		err = errors.Unwrap(err)
	}
	return false
}

// isBusyText reports whether an error is Helm's if another client has begun an operation since the history was read.
func isBusyText(text string) bool {
	return text == "another operation (install/upgrade/rollback) is in progress" || text == "cannot reuse a name that is still in use"
}

func isTransientCause(err error) bool {
	if err == errBusy || err == errChanged || err == driver.ErrReleaseExists || isBusyText(err.Error()) {
		return true
	}
	if _, ok := err.(*url.Error); ok { // no answer
		return true
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return false
	}
	code := status.Status().Code
	switch {
	case code == http.StatusConflict:
		// Conflicts of field managers remain, and objects that exist.
		return status.Status().Reason == metav1.StatusReasonConflict && !hasCause(status, metav1.CauseTypeFieldManagerConflict)
	case code == http.StatusForbidden:
		return hasCause(status, corev1.NamespaceTerminatingCause)
	}
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusUnauthorized ||
		code == http.StatusRequestTimeout || strings.Contains(status.Status().Message, "etcdserver: ")
}

func hasCause(status apierrors.APIStatus, cause metav1.CauseType) bool {
	details := status.Status().Details
	if details == nil {
		return false
	}
	for _, c := range details.Causes {
		if c.Type == cause {
			return true
		}
	}
	return false
}
