package ansiblerole

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/rbac"
)

// A fixedModule is a module whose permissions do not depend on its arguments, other than the state.
type fixedModule struct {
	group     string
	resources []string
	verbs     []string
	// absent are the verbs with state absent; nil means that they are the same.
	absent []string
	// force are additional verbs with the argument force.
	force []string
}

// fixedModules are the modules with permissions on certain resources. It is constant.
var fixedModules = map[string][]fixedModule{
	"k8s_service": {{group: "", resources: []string{"services"}, verbs: []string{"create", "get", "list", "patch", "watch"}, absent: []string{"delete", "get"}, force: []string{"update"}}},
	// Exec requests of the Python client are GET requests, which newer servers also authorize as create.
	"k8s_exec": {{group: "", resources: []string{"pods"}, verbs: []string{"get"}}, {group: "", resources: []string{"pods/exec"}, verbs: []string{"create", "get"}}},
	"k8s_cp":   {{group: "", resources: []string{"pods"}, verbs: []string{"get"}}, {group: "", resources: []string{"pods/exec"}, verbs: []string{"create", "get"}}},
	"k8s_drain": {
		{group: "", resources: []string{"nodes"}, verbs: []string{"get", "patch"}}, {group: "", resources: []string{"pods"}, verbs: []string{"delete", "get", "list"}},
		{group: "", resources: []string{"pods/eviction"}, verbs: []string{"create"}}, {group: "apps", resources: []string{"daemonsets"}, verbs: []string{"get"}},
	},
	"k8s_taint": {{group: "", resources: []string{"nodes"}, verbs: []string{"get", "patch"}}},
	"k8s_event": {{group: "", resources: []string{"events"}, verbs: []string{"create", "get", "list", "patch", "update"}}},
	"openshift_route": {
		{group: "", resources: []string{"services"}, verbs: []string{"get"}},
		{group: "route.openshift.io", resources: []string{"routes"}, verbs: []string{"create", "get", "list", "patch", "update", "watch"}, absent: []string{"delete", "get"}},
		{group: "route.openshift.io", resources: []string{"routes/custom-host"}, verbs: []string{"create", "update"}},
	},
	"k8s_cluster_info": {}, "k8s_config_resource_name": {}, "helm_repository": {}, "helm_plugin": {}, "helm_plugin_info": {},
	"helm_registry_auth": {}, "helm_pull": {}, "helm_template": {}, "k8s_auth": {}, "openshift_auth": {}, "requeue_after": {}, "osdk_metric": {}, "meta": {},
}

// kubernetes adds the permissions of a module that uses the cluster.
func (a *analysis) kubernetes(c *call, name string) {
	if fixed, ok := fixedModules[name]; ok {
		a.fixed(c, fixed)
		a.register(c, value{})
		return
	}
	switch name {
	case "k8s", "k8s_raw", "openshift_raw", "openshift":
		a.k8s(c)
	case "k8s_info", "k8s_facts", "openshift_info":
		a.info(c)
	case "k8s_json_patch":
		a.named(c, "get", "patch")
	case "k8s_scale":
		a.named(c, "get", "list", "patch")
		a.grantSub(a.argumentKinds(c, ""), "scale", "get", "patch", "update")
	case "k8s_status":
		a.named(c, "get")
		a.grantSub(a.argumentKinds(c, ""), "status", "get", "patch", "update")
	case "k8s_log":
		a.log(c)
	case "k8s_rollback":
		a.named(c, "get", "patch")
		a.grant([]granted{{rbac.GroupKind{Group: "apps", Kind: "ReplicaSet"}, "replicasets"}, {rbac.GroupKind{Group: "apps", Kind: "ControllerRevision"}, "controllerrevisions"}}, "get", "list")
	case "helm":
		a.grant([]granted{{rbac.GroupKind{Kind: "Secret"}, "secrets"}}, "create", "delete", "get", "list", "patch", "update", "watch")
		if a.isTrue(c, "create_namespace") {
			a.grant([]granted{{rbac.GroupKind{Kind: "Namespace"}, "namespaces"}}, "create")
		}
		a.notef(c.at, "installs a chart; the manager's role may lack permissions for its objects")
	case "helm_info":
		a.grant([]granted{{rbac.GroupKind{Kind: "Secret"}, "secrets"}}, "get", "list")
	case "command", "shell", "raw", "script", "expect":
		a.commands(c)
	case "uri":
		a.uri(c)
	default:
		if name != c.name && !strings.HasPrefix(c.name, "ansible.") || strings.HasPrefix(c.name, "kubevirt.") || strings.HasPrefix(name, "openshift_") || strings.HasPrefix(name, "k8s_") {
			a.notef(c.at, "the permissions that the module %s needs are not derived; the manager's role may lack them", c.name)
		}
	}
}

// fixed adds the permissions of a module that are the same for all arguments.
func (a *analysis) fixed(c *call, rules []fixedModule) {
	state := textValue("present")
	if v, ok := a.argument(c, "state"); ok {
		state = v
	}
	for _, rule := range rules {
		verbs := rule.verbs
		states, complete := state.texts()
		complete = complete && len(state.settable) == 0
		if rule.absent != nil && slices.Contains(states, "absent") {
			verbs = rule.absent
			if !complete || len(states) > 1 {
				verbs = slices.Concat(rule.verbs, rule.absent)
			}
		} else if rule.absent != nil && !complete {
			verbs = slices.Concat(rule.verbs, rule.absent)
		}
		if a.isTrue(c, "force") {
			verbs = slices.Concat(verbs, rule.force)
		}
		if a.final {
			a.permissions.Grant(rule.group, rule.resources, verbs...)
		}
	}
}

// argumentKinds returns the kinds that the arguments kind and api_version name. The default of kind is used if it is not empty.
func (a *analysis) argumentKinds(c *call, defaultKind string) []granted {
	kind, ok := a.argument(c, "kind")
	if !ok {
		if defaultKind == "" {
			return nil
		}
		kind = textValue(defaultKind)
	}
	return a.kinds(a.apiVersion(c), kind, c.at)
}

// apiVersion returns the argument with the API version.
func (a *analysis) apiVersion(c *call) value {
	if v, ok := a.argument(c, "api_version", "api", "version"); ok {
		return v
	}
	return textValue("v1")
}

// named adds verbs on the objects that a module names by its arguments or in a definition.
func (a *analysis) named(c *call, verbs ...string) {
	objects, _ := a.definitions(c)
	if len(objects) == 0 {
		a.grant(a.argumentKinds(c, ""), verbs...)
	}
	for _, o := range objects {
		a.object(o.value, verbs, false, o.at, 0)
	}
}

// k8s adds the permissions of the module k8s.
func (a *analysis) k8s(c *call) {
	verbs, creates := a.stateVerbs(c)
	objects, isComplete := a.definitions(c)
	_, hasKind := a.argument(c, "kind")
	if len(objects) == 0 && hasKind {
		o := a.argumentObject(c)
		objects, isComplete = []definition{{o, c.at}}, true
	}
	if !isComplete {
		a.notef(c.at, "the objects of the task depend on variables or on files that are not in the project; the manager's role may lack permissions for them")
	}
	var registered []value
	for _, o := range objects {
		v := a.withArguments(c, o.value)
		a.object(v, verbs, creates, o.at, 0)
		registered = append(registered, v)
	}
	result := union(registered...)
	result.open = result.open || len(registered) == 0
	a.register(c, result)
}

// argumentObject returns the object that arguments name.
func (a *analysis) argumentObject(c *call) value {
	d := &dict{fields: map[string]value{"apiVersion": a.apiVersion(c)}}
	if kind, ok := a.argument(c, "kind"); ok {
		d.fields["kind"] = kind
	}
	return value{alts: []any{d}}
}

// withArguments adds the kind and API version of the arguments to an object of a definition that lacks them.
func (a *analysis) withArguments(c *call, o value) value {
	missing := false
	for _, key := range []string{"kind", "apiVersion"} {
		v := a.get(o, key)
		missing = missing || !v.open && len(v.alts) == 0
	}
	if !missing {
		return o
	}
	merged := &dict{fields: map[string]value{}, bases: []value{o}}
	for name, key := range map[string]string{"kind": "kind", "api_version": "apiVersion"} {
		if v := a.get(o, key); !v.open && len(v.alts) == 0 {
			if argument, ok := a.argument(c, name); ok {
				merged.fields[key] = argument
			} else if key == "apiVersion" {
				merged.fields[key] = textValue("v1")
			}
		}
	}
	return value{alts: []any{merged}}
}

// stateVerbs returns the verbs of the module k8s for its state, and whether it can create objects.
func (a *analysis) stateVerbs(c *call) (verbs []string, creates bool) {
	state := textValue("present")
	if v, ok := a.argument(c, "state"); ok {
		state = v
	}
	states, complete := state.texts()
	if !complete || slices.ContainsFunc(states, func(s string) bool { return !known(s) }) {
		states = []string{"present", "absent"}
	} else if len(state.settable) > 0 {
		states = append(states, "present", "absent")
	}
	verbs = []string{"get"}
	if a.isTrue(c, "wait") {
		verbs = append(verbs, "list", "watch")
	}
	for _, s := range states {
		switch s {
		case "absent":
			verbs = append(verbs, "delete")
			if _, ok := a.argument(c, "label_selectors"); ok {
				verbs = append(verbs, "list")
			}
			if a.isTrue(c, "delete_all") {
				verbs = append(verbs, "deletecollection", "list")
			}
		case "patched":
			verbs = append(verbs, "patch")
		default:
			verbs = append(verbs, "create", "patch")
			if a.isTrue(c, "force") {
				verbs = append(verbs, "update")
			}
			creates = true
		}
	}
	return verbs, creates
}

// isTrue reports whether an argument is given and can be true.
func (a *analysis) isTrue(c *call, name string) bool {
	v, ok := a.argument(c, name)
	canBeTrue, _ := v.truth()
	return ok && canBeTrue
}

// info adds the permissions of the module k8s_info.
func (a *analysis) info(c *call) {
	verbs := []string{"get", "list"}
	if name, ok := a.argument(c, "name"); ok && !canBeEmpty(name) {
		verbs = []string{"get"}
		if a.isTrue(c, "wait") {
			verbs = []string{"get", "list", "watch"}
		}
	}
	a.grant(a.argumentKinds(c, ""), verbs...)
	a.register(c, a.argumentObject(c))
}

// log adds the permissions of the module k8s_log.
func (a *analysis) log(c *call) {
	pods := []granted{{rbac.GroupKind{Kind: "Pod"}, "pods"}}
	a.grant(a.argumentKinds(c, "Pod"), "get")
	if _, ok := a.argument(c, "label_selectors"); ok {
		a.grant(pods, "list")
	}
	if kind, _ := a.argument(c, "kind"); len(kind.alts) > 0 || kind.open {
		a.grant(pods, "get", "list")
	}
	a.grantSub(pods, "log", "get")
}

// register collects the result of a module as the value of the variable that it is registered as.
func (a *analysis) register(c *call, object value) {
	name := text(field(c.task, "register"))
	if name == "" {
		return
	}
	if len(object.alts) == 0 {
		a.collect(name, thunk{ready: anything()})
		return
	}
	result := &dict{fields: map[string]value{"resources": {alts: []any{list{[]value{object}}}}, "result": object}}
	v := value{alts: []any{result}}
	if item, ok := c.scope.vars["ansible_loop_var"]; ok && item.node == nil {
		v = value{alts: []any{&dict{fields: map[string]value{"results": {alts: []any{list{[]value{v}}}}}}}}
	}
	a.collect(name, thunk{ready: v})
}

// clusterCommand matches a command of a program that uses the cluster.
var clusterCommand = lazyregexp.New(`(?:^|[\s;|&("'/\x60])(kubectl|oc|helm|kustomize)[ \t]`)

// command notes a command that uses the cluster.
func (a *analysis) command(line string, at position) {
	if match := clusterCommand.FindStringSubmatch(line); match != nil {
		a.notef(at, "runs %s; the manager's role may lack permissions for what it does", match[1])
	}
}

// commands notes the commands of a task that use the cluster.
func (a *analysis) commands(c *call) {
	a.register(c, value{})
	var visit func(node *yaml.Node)
	visit = func(node *yaml.Node) {
		node = content(node)
		switch {
		case node == nil:
		case node.Kind == yaml.ScalarNode:
			a.command(node.Value, c.at)
		case node.Kind == yaml.SequenceNode:
			var words []string
			for _, item := range node.Content {
				words = append(words, text(item))
			}
			a.command(strings.Join(words, " ")+" ", c.at)
		default:
			for key, child := range fields(node) {
				if key == "cmd" || key == "argv" || key == "command" || key == "_raw_params" {
					visit(child)
				}
			}
		}
	}
	visit(c.arguments)
	visit(field(c.task, "args"))
}

// apiServer matches the URL of a request to the API server.
var apiServer = lazyregexp.New(`/apis/[\w-]+(\.[\w.-]+)?/v\d|/api/v1/(namespaces|nodes|pods)|kubernetes\.default\b`)

// uri notes requests to the API server.
func (a *analysis) uri(c *call) {
	a.register(c, value{})
	v, _ := a.argument(c, "url")
	for _, url := range v.patterns() {
		if apiServer.MatchString(url) {
			a.notef(c.at, "sends a request to the API server; the manager's role may lack permissions for it")
			return
		}
	}
}
