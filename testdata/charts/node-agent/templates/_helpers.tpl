{{- define "node-agent.labels" -}}
app.kubernetes.io/name: node-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "node-agent.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (printf "%s-agent" .Release.Name) -}}
{{- end }}

{{/* Names of cluster-scoped objects contain the namespace, as several releases may have the same name. */}}
{{- define "node-agent.clusterName" -}}
{{- printf "%s-%s-agent" .Release.Namespace .Release.Name -}}
{{- end }}
