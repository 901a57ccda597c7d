package helmchart

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Names of keys hint at the values that charts accept besides their defaults. The names are compared in lower case.
var (
	// portName matches names of ports, which can be numbers or names.
	portName = lazyregexp.New(`(?i)ports?$|^(http|https|grpc|tcp|udp)$`)
	// scalarName matches names whose values are written as numbers or as strings: quantities, durations, versions, percentages.
	scalarName = lazyregexp.New(`(?i)(cpu|memory|storage|size|limit|limits|bytes|quota|capacity|timeout|interval|period|duration|delay|` +
		`retention|age|ttl|window|expiry|expiration|tag|version|revision|level|unavailable|available|surge|ratio|percent|percentage|` +
		`rate|sampling|threshold|weight|password|passwd|secret|token|key|pin|id|mode|value|factor|probability|mask|budget|score|max|min|qps|burst|` +
		`seconds|minutes|hours|days|weeks|time)$|^(max|min)[A-Z]|^(time|refresh|scrape|sync|retain)`)
	// integerName matches names whose values are integers without exception.
	integerName = lazyregexp.New(`(?i)^(replica(count|s)?|.*replicas|.*replicacount|revisionhistorylimit|.*historylimit|backofflimit|parallelism|completions|` +
		`terminationgraceperiodseconds|initialdelayseconds|periodseconds|timeoutseconds|successthreshold|failurethreshold|minreadyseconds|` +
		`progressdeadlineseconds|runasuser|runasgroup|fsgroup|concurrency|workers|threads)$`)
	// stringName matches names whose values are strings, also if the default is empty.
	stringName = lazyregexp.New(`(?i)(name|names?pace|class|registry|repository|host|hostname|domain|url|uri|path|file|dir|directory|user|username|` +
		`email|issuer|schedule|cron|region|zone|bucket|prefix|suffix|override|digest|namespace|endpoint|description|title)$|^existing(Secret|Claim|ConfigMap)`)
	// freeName matches names of mappings whose keys are chosen by the user.
	freeName = lazyregexp.New(`(?i)(annotations?|labels?|selector|matchlabels|env|envs|envvars?|environment|vars|variables|args|arguments|flags|` +
		`headers|limits|requests|affinity|resources)$`)
	// configName matches names of mappings whose keys are chosen by the user if some of their values are scalars.
	configName = lazyregexp.New(`(?i)(config|configs|configs?maps?|configuration|conf|settings|options|opts|properties|params|parameters|data|stringdata|` +
		`files|secrets|plugins|ini|rules|provisioners?|dashboards|datasources|mappings?|values|extra|manifests|objects)$|^(extra|additional|custom|config|settings)[A-Z_]?`)
	// podName matches names of parts of pods that templates copy. Charts accept templates in strings and empty strings for them.
	podName = lazyregexp.New(`(?i)(affinity|nodeselector|tolerations|topologyspreadconstraints|securitycontext|resources|annotations|labels|` +
		`(liveness|readiness|startup)probe|lifecycle|strategy)$`)
	// valueName matches names that are not switches, although their default is false.
	valueName = lazyregexp.New(`(?i)(ip|port|name|secret|class|host|hostname|path|file|url|policy|claim|type|size|limit|version|tag|config|key|` +
		`annotations|labels|resources|affinity|tolerations|selector|budget|probe|context|password|user|storage|replicas|count|interval|timeout|level)$`)
	// identifier matches keys that charts choose. Other keys are data.
	identifier = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_-]*$`)
	// constantName matches names of environment variables.
	constantName = lazyregexp.New(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)
	// numberLike matches strings that users also write without quotes, as numbers, quantities or booleans.
	numberLike = lazyregexp.New(`(?i)^[-+]?[0-9][0-9._]*([a-z%]{0,2}|e[0-9]+)$|^(true|false|yes|no|on|off|auto|null|none|default|-)$`)
)

// isFree reports whether the keys of a mapping are chosen by the user.
func isFree(name string, v *value) bool {
	if freeName.MatchString(name) || configName.MatchString(name) && v.hasScalar() {
		return true
	}
	constants := 0
	for _, key := range v.keys {
		if !identifier.MatchString(key) {
			return true
		}
		if constantName.MatchString(key) {
			constants++
		}
	}
	return constants > 0 && constants == len(v.keys)
}

func (v *value) hasScalar() bool {
	for _, field := range v.fields {
		if field.kind != mapValue && field.kind != listValue {
			return true
		}
	}
	return false
}

// typedNote returns the type that documentation states for a key, and whether it does.
func typedNote(n note) (schemaType, bool) {
	switch strings.ToLower(strings.TrimSpace(n.typ)) {
	case "":
		return anyType, false
	case "string", "str":
		return stringType, true
	case "bool", "boolean":
		return booleanType, true
	case "int", "integer":
		return integerType, true
	case "object", "map", "dict":
		return objectType, true
	case "list", "array":
		return arrayType, true
	}
	return anyType, true
}
