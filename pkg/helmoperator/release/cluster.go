package release

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A clusterGetter gives Helm the connections of the factory. It reads neither files nor the environment.
type clusterGetter struct {
	factory   *Factory
	namespace string
}

func (g clusterGetter) ToRESTConfig() (*rest.Config, error) {
	return rest.CopyConfig(g.factory.rest), nil
}

func (g clusterGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return memory.NewMemCacheClient(g.factory.discovery), nil
}

func (g clusterGetter) ToRESTMapper() (meta.RESTMapper, error) { return g.factory.mapper, nil }

func (g clusterGetter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	overrides := &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}}
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), overrides)
}

// capabilitiesAge is the time after which capabilities are discovered again: a chart may render other objects when an API
// becomes available.
const capabilitiesAge = time.Minute

// capabilities are the discovered version and APIs of the cluster.
type capabilities struct {
	mutex sync.Mutex
	found *common.Capabilities
	until time.Time
}

// expire makes the next call of get discover again.
func (c *capabilities) expire() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.until = time.Time{}
}

// get returns the capabilities. If a group cannot be discovered, its last known APIs are returned: a chart must not drop objects
// because an aggregated API server is unavailable.
func (c *capabilities) get(client discovery.DiscoveryInterface) (*common.Capabilities, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.found != nil && time.Now().Before(c.until) {
		return c.found, nil
	}
	found, err := c.discover(client)
	if err != nil && c.found == nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	if err == nil && !reflect.DeepEqual(found, c.found) { // otherwise results that depend on it remain valid
		c.found = found
	}
	c.until = time.Now().Add(capabilitiesAge)
	return c.found, nil
}

func (c *capabilities) discover(client discovery.DiscoveryInterface) (*common.Capabilities, error) {
	version, err := client.ServerVersion()
	if err != nil {
		return nil, err
	}
	groups, lists, err := client.ServerGroupsAndResources()
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return nil, err
	}
	set := map[string]bool{}
	for _, group := range groups {
		for _, version := range group.Versions {
			set[version.GroupVersion] = true
		}
	}
	for _, list := range lists {
		for _, kind := range list.APIResources {
			set[path.Join(list.GroupVersion, kind.Kind)] = true
		}
	}
	if c.found != nil {
		for gv := range failed {
			for _, known := range c.found.APIVersions {
				if known == gv.String() || strings.HasPrefix(known, gv.String()+"/") {
					set[known] = true
				}
			}
		}
	}
	versions := make(common.VersionSet, 0, len(set))
	for name := range set {
		versions = append(versions, name)
	}
	slices.Sort(versions)
	return &common.Capabilities{
		APIVersions: versions,
		KubeVersion: common.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor},
		HelmVersion: common.DefaultCapabilities.HelmVersion,
	}, nil
}
