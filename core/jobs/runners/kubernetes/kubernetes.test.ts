import ipaddr from "ipaddr.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { provideSettings } from "../../../env.ts";
import { newId } from "../../../ids.ts";
import { isAllowedAddress } from "../../../outbound/is-allowed-address.ts";
import { startCluster } from "../../testing/cluster.ts";
import { runTask, smallLimits, startTask } from "../../testing/run-task.ts";
import { kubernetes } from "./kubernetes.ts";
import { imageOf, networkPolicies } from "./objects.ts";

async function cluster() {
  const started = await startCluster();
  onTestFinished(() => {
    started.stop();
    started.unconfigure();
  });
  provideSettings({ JOBS_KUBERNETES_NAMESPACE: "jobs" });
  process.env.KUBECONFIG = started.config;
  return started;
}

const sh = (script: string) => ["sh", "-c", script];

describe("a job in a cluster", () => {
  it("S132 S133 runs in a pod without privileges, tokens or a network, and leaves nothing behind", async () => {
    const { made, madeSecrets, pods, secrets, policies } = await cluster();
    const ended = await runTask(kubernetes, sh('echo "$GREETING $WEBHOOK_PAYLOAD_FILE"; exit 4'), {
      image: "debian:12",
      environment: { GREETING: "a=b 'c'", TOKEN: "s3cret-value" },
      payload: '{"repo":1}',
    });
    expect(ended).toMatchObject({ exit: { kind: "exited", code: 4 }, stdout: "a=b 'c' /run/webhook/payload.json\n" });
    const [pod] = made;
    expect(pod?.spec).toMatchObject({
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostNetwork: false,
      activeDeadlineSeconds: smallLimits.cpuSeconds + 120,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
          resources: {
            limits: {
              cpu: "1",
              memory: String(smallLimits.memoryBytes),
              "ephemeral-storage": String(smallLimits.scratchBytes),
            },
          },
        },
      ],
      volumes: [
        { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: String(smallLimits.scratchBytes / 2) } },
        { name: "work", emptyDir: { medium: "Memory", sizeLimit: String(smallLimits.scratchBytes / 2) } },
        { name: "payload" },
      ],
    });
    expect(JSON.stringify(pod)).not.toContain("s3cret");
    expect(madeSecrets[0]?.stringData).toMatchObject({ "variable.TOKEN": "s3cret-value", payload: '{"repo":1}' });
    expect(pod?.metadata.labels).toMatchObject({ "keyhook.network": "false" });
    expect(policies.get("keyhook-no-network")).toMatchObject({
      spec: { podSelector: { matchLabels: { "keyhook.network": "false" } }, policyTypes: ["Ingress", "Egress"] },
    });
    expect(JSON.stringify(policies.get("keyhook-no-network"))).not.toContain("egress");
    const { ipBlock } = networkPolicies[1]?.spec?.egress?.[1]?.to?.[0] ?? {};
    const lets = (address: string) => !ipBlock?.except?.some((range) => ipaddr.parse(address).match(ipaddr.parseCIDR(range)));
    const addresses = [
      "10.0.0.1",
      "169.254.169.254",
      "192.0.0.192",
      "198.18.0.1",
      "192.88.99.1",
      "203.0.113.9",
      "1.1.1.1",
      "192.0.1.1",
    ];
    expect(addresses.filter(lets), "S118").toEqual(addresses.filter(isAllowedAddress));
    expect([pods.size, secrets.size]).toEqual([0, 0]);
  });

  it("S118 gets the network policies of this version, even if an earlier version created others", async () => {
    const { policies } = await cluster();
    for (const { metadata } of networkPolicies) {
      const name = metadata?.name ?? "";
      policies.set(name, { metadata: { name }, spec: { podSelector: {}, policyTypes: [] } } as never);
    }
    await runTask(kubernetes, ["true"], { image: "debian:12" });
    expect([...policies.values()]).toEqual(networkPolicies);
  });

  it("S132 gets only the image that it names", () => {
    expect(imageOf({})).toBe("docker.io/library/node:24-slim");
    expect(imageOf({ image: "debian:12" })).toBe("docker.io/library/debian:12");
    expect(() => imageOf({ image: "registry.example.com/tool" })).toThrow("cannot use the image registry.example.com/tool");
  });

  it("runs its command as it was written", async () => {
    await cluster();
    const { stdout } = await runTask(kubernetes, ["printf", "%s", "$(TOKEN) $$ $HOME"], {
      image: "debian:12",
      environment: { TOKEN: "s3cret-value" },
    });
    expect(stdout).toBe("$(TOKEN) $$ $HOME");
  });

  it("is followed to its end, with each line once, even if the log's stream breaks off", async () => {
    const { cut } = await cluster();
    cut.next = true;
    const { ended } = await startTask(kubernetes, sh("echo one; sleep 1; echo two; sleep 1; echo three"), { image: "debian:12" });
    expect((await ended).stdout).toBe("one\ntwo\nthree\n");
  });

  it("gets a signal before it is killed, and leftovers of a lost worker are removed", async () => {
    const { pods, secrets } = await cluster();
    const polite = await startTask(kubernetes, sh('trap "exit 7" TERM; echo go; while :; do sleep 0.05; done'), {
      image: "debian:12",
    });
    const deaf = await startTask(kubernetes, sh('trap "" TERM; echo go; while :; do sleep 0.05; done'), { image: "debian:12" });
    const id = newId();
    const lost = await startTask(kubernetes, ["sleep", "60"], { image: "debian:12", id });
    await vi.waitFor(() => expect([polite.said.stdout, deaf.said.stdout, pods.size]).toEqual(["go\n", "go\n", 3]), {
      timeout: 10_000,
    });
    polite.end();
    deaf.end();
    expect((await polite.ended).exit.kind).toBe("exited");
    expect((await deaf.ended).exit.kind).toBe("exited");
    await kubernetes.endLeftovers?.(id);
    expect((await lost.ended).exit.kind).toBe("exited");
    expect([pods.size, secrets.size]).toEqual([0, 0]);
  });

  it("S134 leaves no secret of a worker that was killed, and touches none that a worker holds or that another service created", async () => {
    const { pods, secrets } = await cluster();
    const [held, lost, orphan, foreign] = [newId(), newId(), newId(), newId()];
    const tasks = [held, lost].map((id) => startTask(kubernetes, ["sleep", "60"], { image: "debian:12", id }));
    const [kept, ended] = await Promise.all(tasks);
    await vi.waitFor(() => expect(pods.size).toBe(2), { timeout: 10_000 });
    const left = (id: string, labels: Record<string, string>) =>
      secrets.set(`keyhook-${id}`, { metadata: { name: `keyhook-${id}`, labels }, stringData: {} });
    const labels = secrets.get(`keyhook-${held}`)?.metadata.labels ?? {};
    left(orphan, { ...labels, "keyhook.run": orphan });
    left(foreign, { ...labels, "keyhook.run": foreign, "keyhook.service": "another" });
    await kubernetes.sweep?.(async (ids) => new Set(ids.filter((id) => id === held)));
    expect([...secrets.keys()].sort()).toEqual([`keyhook-${held}`, `keyhook-${foreign}`].sort());
    await ended?.ended;
    expect([...pods.keys()]).toEqual([`keyhook-${held}`]);
    kept?.kill();
    await kept?.ended;
  });

  it("ends with a different reason for a missing image, too little memory, and a cluster that does not respond", async () => {
    const started = await cluster();
    expect((await runTask(kubernetes, ["true"], { image: "missing:1" })).exit).toEqual({
      kind: "failed",
      reason: "The container cannot be started (ImagePullBackOff).",
    });
    const full = { image: "debian:12", environment: { FULL: "1" } };
    expect((await runTask(kubernetes, sh("exit 137"), full)).exit).toEqual({ kind: "out_of_memory" });
    expect((await runTask(kubernetes, ["true"], { filesDirectory: "/tmp" })).exit).toMatchObject({ kind: "failed" });
    const id = newId();
    const first = await startTask(kubernetes, ["sleep", "60"], { image: "debian:12", id });
    await vi.waitFor(() => expect(started.pods.size).toBe(1), { timeout: 10_000 });
    expect((await runTask(kubernetes, ["true"], { image: "debian:12", id })).exit).toEqual({
      kind: "failed",
      reason: "The cluster refused the job. Contact the operator.",
    });
    await first.ended;
    started.stop();
    expect((await runTask(kubernetes, ["true"], { image: "debian:12" })).exit).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining("does not respond"),
    });
    started.unconfigure();
    expect((await runTask(kubernetes, ["true"], { image: "debian:12" })).exit).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining("KUBECONFIG"),
    });
  });
});
