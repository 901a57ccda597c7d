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

// modules reads the calls of modules in tasks.
type modules struct {
	*progress
	eval    *evaluator
	rules   *rules
	scanner *scanner
}

// kubernetes adds the permissions of a module that uses the cluster.
func (m *modules) kubernetes(c *call, name string) {
	if fixed, ok := fixedModules[name]; ok {
		m.fixed(c, fixed)
		m.register(c, value{})
		return
	}
	switch name {
	case "k8s", "k8s_raw", "openshift_raw", "openshift":
		m.k8s(c)
	case "k8s_info", "k8s_facts", "openshift_info":
		m.info(c)
	case "k8s_json_patch":
		m.named(c, "get", "patch")
	case "k8s_scale":
		m.named(c, "get", "list", "patch")
		m.rules.grantSub(m.rules.argumentKinds(c, ""), "scale", "get", "patch", "update")
	case "k8s_status":
		m.named(c, "get")
		m.rules.grantSub(m.rules.argumentKinds(c, ""), "status", "get", "patch", "update")
	case "k8s_log":
		m.log(c)
	case "k8s_rollback":
		m.named(c, "get", "patch")
		m.rules.grant([]granted{{rbac.GroupKind{Group: "apps", Kind: "ReplicaSet"}, "replicasets"}, {rbac.GroupKind{Group: "apps", Kind: "ControllerRevision"}, "controllerrevisions"}}, "get", "list")
	case "helm":
		m.rules.grant([]granted{{rbac.GroupKind{Kind: "Secret"}, "secrets"}}, "create", "delete", "get", "list", "patch", "update", "watch")
		if c.isTrue("create_namespace") {
			m.rules.grant([]granted{{rbac.GroupKind{Kind: "Namespace"}, "namespaces"}}, "create")
		}
		m.notef(c.at, "installs a chart; the manager's role may lack permissions for its objects")
	case "helm_info":
		m.rules.grant([]granted{{rbac.GroupKind{Kind: "Secret"}, "secrets"}}, "get", "list")
	case "command", "shell", "raw", "script", "expect":
		m.commands(c)
	case "uri":
		m.uri(c)
	default:
		if name != c.name && !strings.HasPrefix(c.name, "ansible.") || strings.HasPrefix(c.name, "kubevirt.") || strings.HasPrefix(name, "openshift_") || strings.HasPrefix(name, "k8s_") {
			m.notef(c.at, "the permissions that the module %s needs are not derived; the manager's role may lack them", c.name)
		}
	}
}

// fixed adds the permissions of a module that are the same for all arguments.
func (m *modules) fixed(c *call, rules []fixedModule) {
	state := c.state()
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
		if c.isTrue("force") {
			verbs = slices.Concat(verbs, rule.force)
		}
		if m.final {
			m.rules.permissions.Grant(rule.group, rule.resources, verbs...)
		}
	}
}

// named adds verbs on the objects that a module names by its arguments or in a definition.
func (m *modules) named(c *call, verbs ...string) {
	objects := m.definitions(c).objects
	if len(objects) == 0 {
		m.rules.grant(m.rules.argumentKinds(c, ""), verbs...)
	}
	for _, o := range objects {
		m.rules.object(o.value, verbs, false, o.at, 0)
	}
}

func (m *modules) k8s(c *call) {
	verbs, creates := c.stateVerbs()
	found := m.definitions(c)
	if _, hasKind := c.argument("kind"); len(found.objects) == 0 && hasKind {
		found = definitions{[]definition{{c.argumentObject(), c.at}}, true}
	}
	if !found.complete {
		m.notef(c.at, "the objects of the task depend on variables or on files that are not in the project; the manager's role may lack permissions for them")
	}
	var registered []value
	for _, o := range found.objects {
		v := c.withArguments(o.value)
		m.rules.object(v, verbs, creates, o.at, 0)
		registered = append(registered, v)
	}
	result := union(registered...)
	result.open = result.open || len(registered) == 0
	m.register(c, result)
}

// info adds the permissions of the module k8s_info.
func (m *modules) info(c *call) {
	verbs := []string{"get", "list"}
	if name, ok := c.argument("name"); ok && !canBeEmpty(name) {
		verbs = []string{"get"}
		if c.isTrue("wait") {
			verbs = []string{"get", "list", "watch"}
		}
	}
	m.rules.grant(m.rules.argumentKinds(c, ""), verbs...)
	m.register(c, c.argumentObject())
}

// log adds the permissions of the module k8s_log.
func (m *modules) log(c *call) {
	pods := []granted{{rbac.GroupKind{Kind: "Pod"}, "pods"}}
	m.rules.grant(m.rules.argumentKinds(c, "Pod"), "get")
	if _, ok := c.argument("label_selectors"); ok {
		m.rules.grant(pods, "list")
	}
	if kind, _ := c.argument("kind"); len(kind.alts) > 0 || kind.open {
		m.rules.grant(pods, "get", "list")
	}
	m.rules.grantSub(pods, "log", "get")
}

// register collects the result of a module as the value of the variable that it is registered as.
func (m *modules) register(c *call, object value) {
	name := text(field(c.task, "register"))
	if name == "" {
		return
	}
	if len(object.alts) == 0 {
		m.eval.env.collect(name, thunk{ready: anything()})
		return
	}
	result := &dict{fields: map[string]value{"resources": {alts: []any{list{[]value{object}}}}, "result": object}}
	v := value{alts: []any{result}}
	if item, ok := c.scope.vars["ansible_loop_var"]; ok && item.node == nil {
		v = value{alts: []any{&dict{fields: map[string]value{"results": {alts: []any{list{[]value{v}}}}}}}}
	}
	m.eval.env.collect(name, thunk{ready: v})
}

// commands notes the commands of a task that use the cluster.
func (m *modules) commands(c *call) {
	m.register(c, value{})
	var visit func(node *yaml.Node)
	visit = func(node *yaml.Node) {
		node = content(node)
		switch {
		case node == nil:
		case node.Kind == yaml.ScalarNode:
			m.scanner.command(node.Value, c.at)
		case node.Kind == yaml.SequenceNode:
			var words []string
			for _, item := range node.Content {
				words = append(words, text(item))
			}
			m.scanner.command(strings.Join(words, " ")+" ", c.at)
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
func (m *modules) uri(c *call) {
	m.register(c, value{})
	v, _ := c.argument("url")
	for _, url := range v.patterns() {
		if apiServer.MatchString(url) {
			m.notef(c.at, "sends a request to the API server; the manager's role may lack permissions for it")
			return
		}
	}
}
