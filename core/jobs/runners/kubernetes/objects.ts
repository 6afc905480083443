import type { V1NetworkPolicy, V1Pod, V1Secret } from "@kubernetes/client-node";
import { env } from "../../../env.ts";
import { FORBIDDEN_IPV4 } from "../../../outbound/is-allowed-address.ts";
import { serviceMark } from "../../../temporary-folder.ts";
import { allowImage } from "../../image-reference.ts";
import { GRACE_MS, PAYLOAD_FILE, type Task, WORKING_DIRECTORY } from "../runner.ts";

export const CONTAINER = "job";
export const RUN_LABEL = "keyhook.run";
const SERVICE_LABEL = "keyhook.service";
const NETWORK_LABEL = "keyhook.network";
const USER = 1000;
const DEADLINE_MARGIN_SECONDS = 120;

export const nameOf = (id: string): string => `keyhook-${id}`;
const labelsOf = ({ id, network }: Task) => ({
  "app.kubernetes.io/managed-by": "keyhook",
  [RUN_LABEL]: id,
  [SERVICE_LABEL]: serviceMark(),
  [NETWORK_LABEL]: String(network),
});

export const ofThisService = (): string => `${SERVICE_LABEL}=${serviceMark()}`;

/** The values are in a Secret, because more people can read the pod's specification. */
export function secretOf(task: Task): V1Secret {
  const { environment, payload } = task;
  return {
    metadata: { name: nameOf(task.id), labels: labelsOf(task) },
    immutable: true,
    stringData: {
      ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [`variable.${name}`, value])),
      ...(payload !== undefined && { payload }),
    },
  };
}

/** A Pod and not a Job, because the cluster may replace a Job's lost pod, and no run may be executed twice. */
export function podOf(task: Task): V1Pod {
  const { id, command, environment, payload, limits, graceMs = GRACE_MS } = task;
  const half = String(Math.floor(limits.scratchBytes / 2));
  const resources = {
    cpu: String(limits.cpus),
    memory: String(limits.memoryBytes),
    "ephemeral-storage": String(limits.scratchBytes),
  };
  return {
    metadata: { name: nameOf(id), labels: labelsOf(task) },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: Math.ceil(limits.cpuSeconds / limits.cpus) + DEADLINE_MARGIN_SECONDS,
      terminationGracePeriodSeconds: Math.ceil(graceMs / 1000),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: CONTAINER,
          image: imageOf(task),
          // The cluster would replace `$(NAME)` and `$$`.
          ...(command.length > 0 && { command: command.map((word) => word.replaceAll("$", () => "$$")) }),
          workingDir: WORKING_DIRECTORY,
          env: [
            { name: "HOME", value: "/tmp" },
            ...Object.keys(environment).map((name) => ({
              name,
              valueFrom: { secretKeyRef: { name: nameOf(id), key: `variable.${name}` } },
            })),
            ...(payload === undefined ? [] : [{ name: "WEBHOOK_PAYLOAD_FILE", value: PAYLOAD_FILE }]),
          ],
          resources: { limits: resources, requests: resources },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            privileged: false,
            capabilities: { drop: ["ALL"] },
          },
          volumeMounts: [
            { name: "tmp", mountPath: "/tmp" },
            { name: "work", mountPath: WORKING_DIRECTORY },
            ...(payload === undefined
              ? []
              : [{ name: "payload", mountPath: PAYLOAD_FILE, subPath: "payload.json", readOnly: true }]),
          ],
        },
      ],
      volumes: [
        // The volumes are in memory, because a node checks sizes on the disk only now and then.
        { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: half } },
        { name: "work", emptyDir: { medium: "Memory", sizeLimit: half } },
        ...(payload === undefined
          ? []
          : [{ name: "payload", secret: { secretName: nameOf(id), items: [{ key: "payload", path: "payload.json" }] } }]),
      ],
    },
  };
}

export function imageOf({ image }: Pick<Task, "image">): string {
  const allowed = allowImage(image ?? env().JOBS_NODE_IMAGE);
  if (!("refusal" in allowed)) return allowed.name;
  if (image !== undefined) throw new Error(allowed.refusal);
  // JOBS_NODE_IMAGE need not be in the list of allowed images, because the operator chose it.
  return env().JOBS_NODE_IMAGE;
}

/** Apart from the cluster's DNS, pods reach none of the addresses that this service itself must not reach (S118). */
export const networkPolicies: readonly V1NetworkPolicy[] = [
  {
    metadata: { name: "keyhook-no-network" },
    spec: { podSelector: { matchLabels: { [NETWORK_LABEL]: "false" } }, policyTypes: ["Ingress", "Egress"] },
  },
  {
    metadata: { name: "keyhook-public-network" },
    spec: {
      podSelector: { matchLabels: { [NETWORK_LABEL]: "true" } },
      policyTypes: ["Ingress", "Egress"],
      egress: [
        {
          to: [{ namespaceSelector: {}, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } }],
          ports: [
            { protocol: "UDP", port: 53 },
            { protocol: "TCP", port: 53 },
          ],
        },
        {
          to: [
            {
              ipBlock: {
                cidr: "0.0.0.0/0",
                except: [...FORBIDDEN_IPV4],
              },
            },
          ],
        },
      ],
    },
  },
];
