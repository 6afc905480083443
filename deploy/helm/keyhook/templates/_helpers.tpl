{{- define "keyhook.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "keyhook.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "keyhook.labels" -}}
{{ include "keyhook.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "keyhook.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "keyhook.secretName" -}}
{{ default (include "keyhook.fullname" .) .Values.existingSecret }}
{{- end -}}

{{- define "keyhook.serviceAccountName" -}}
{{ default (include "keyhook.fullname" .) .Values.serviceAccount.name }}
{{- end -}}

{{- define "keyhook.jobsNamespace" -}}
{{ .Values.jobs.namespace }}
{{- end -}}

{{/* Fails on invalid values, before anything is created. */}}
{{- define "keyhook.check" -}}
{{- if and .Values.jobs.enabled (or (not .Values.jobs.namespace) (eq .Values.jobs.namespace .Release.Namespace)) -}}
{{- fail "jobs.namespace must be a separate namespace: anybody who may create pods in a namespace can mount each of its Secrets" -}}
{{- end -}}
{{- if not .Values.origin -}}{{- fail "origin is missing: the address that people's browsers use, such as https://hub.example.com" -}}{{- end -}}
{{- if not .Values.existingSecret -}}
{{- if not .Values.database.url -}}{{- fail "database.url is missing (or existingSecret, a Secret with DATABASE_URL and SECRET_KEY)" -}}{{- end -}}
{{- if lt (len .Values.secretKey) 32 -}}{{- fail "secretKey needs at least 32 characters; `openssl rand -base64 48` generates one" -}}{{- end -}}
{{- end -}}
{{- $pods := add (.Values.web.autoscaling.enabled | ternary .Values.web.autoscaling.maxReplicas .Values.web.replicas) .Values.worker.replicas -}}
{{- if and (gt ($pods | int) 2) (not .Values.storage.existingClaim) (not (has "ReadWriteMany" .Values.storage.accessModes)) -}}
{{- fail "more than one web process or worker shares the repositories: storage.accessModes must contain ReadWriteMany" -}}
{{- end -}}
{{- end -}}

{{/* The settings of every process. */}}
{{- define "keyhook.env" -}}
- name: ORIGIN
  value: {{ .Values.origin | quote }}
- name: DATA_DIR
  value: /data
- name: PORT
  value: "3000"
- name: WORKER_HEALTH_PORT
  value: "3001"
{{- if .Values.jobs.enabled }}
- name: JOBS_RUNNER
  value: kubernetes
- name: JOBS_KUBERNETES_NAMESPACE
  value: {{ include "keyhook.jobsNamespace" . | quote }}
{{- end }}
{{- if .Values.migrations.enabled }}
# Only the migration job connects as the owner, even if the Secret contains DATABASE_OWNER_URL.
- name: DATABASE_OWNER_URL
  value: ""
{{- end }}
{{- end -}}

{{- define "keyhook.envFrom" -}}
- configMapRef:
    name: {{ include "keyhook.fullname" . }}
- secretRef:
    name: {{ include "keyhook.secretName" . }}
{{- end -}}

{{/* Changed settings restart the pods. */}}
{{- define "keyhook.checksum" -}}
{{ toJson (list .Values.settings .Values.secretSettings .Values.database .Values.secretKey .Values.origin) | sha256sum }}
{{- end -}}

{{- define "keyhook.volumes" -}}
- name: data
  persistentVolumeClaim:
    claimName: {{ default (include "keyhook.fullname" .) .Values.storage.existingClaim }}
- name: tmp
  emptyDir: { sizeLimit: {{ .Values.storage.temporary }} }
{{- end -}}

{{- define "keyhook.volumeMounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- end -}}
