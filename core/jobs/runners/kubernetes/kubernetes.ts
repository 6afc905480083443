import { setTimeout as sleep } from "node:timers/promises";
import type { NetworkingV1Api, V1ContainerStatus, V1NetworkPolicy, V1Pod } from "@kubernetes/client-node";
import { log } from "../../../log.ts";
import { allowImage } from "../../image-reference.ts";
import { type Execution, type Exit, GRACE_MS, type Runner, type Task } from "../runner.ts";
import { type Cluster, connect, ignoring, isAnswer, messageOf } from "./cluster.ts";
import { CONTAINER, imageOf, nameOf, networkPolicies, ofThisService, podOf, RUN_LABEL, secretOf } from "./objects.ts";

const POLL_MS = 500;
const UNREACHABLE_MAX_MS = 60_000;
const LOG_END_MS = 5_000;
/** A Secret holds at most a mebibyte. */
const SECRET_MAX_BYTES = 1024 ** 2 - 4_096;
const NEVER_STARTS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

export const kubernetes: Runner = {
  name: "kubernetes",
  async start(task) {
    const refusal = refusalOf(task);
    if (refusal) return failed(refusal);
    const cluster = await connect().catch((error: unknown) => {
      log().error({ err: error }, "the cluster for jobs is not configured");
    });
    if (!cluster) return failed("The cluster is not configured. The operator can set KUBECONFIG.");
    const run = new PodRun(task, cluster);
    return { exited: run.exit(), kill: () => run.kill() };
  },
  async endLeftovers(id) {
    await removeAll(await connect(), id);
  },
  async sweep(isHeld) {
    const cluster = await connect();
    // A run's Secret is created first and removed last.
    const left = (await cluster.labelsOfSecrets(ofThisService())).flatMap((labels) => labels[RUN_LABEL] ?? []);
    const held = await isHeld(left);
    for (const id of left) if (!held.has(id)) await removeAll(cluster, id);
  },
};

const failed = (reason: string): Execution => ({ exited: Promise.resolve({ kind: "failed", reason }), kill: () => undefined });

function refusalOf({ image, filesDirectory, socketDirectory, environment, payload = "" }: Task): string | undefined {
  const allowed = image === undefined ? undefined : allowImage(image);
  if (allowed && "refusal" in allowed) return allowed.refusal;
  if (filesDirectory || socketDirectory)
    return "This server runs jobs in a cluster, which cannot provide a Space's files. Use an image that contains them.";
  const bytes = Object.entries(environment).reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(value),
    Buffer.byteLength(payload),
  );
  return bytes > SECRET_MAX_BYTES
    ? "The environment and the payload together are larger than 1 MiB, the limit of the cluster. Use fewer or shorter variables."
    : undefined;
}

async function removeAll({ core, namespace }: Cluster, id: string): Promise<void> {
  const name = nameOf(id);
  await ignoring(404, core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 }));
  await ignoring(404, core.deleteNamespacedSecret({ name, namespace }));
}

/** Replaces an older version's policy, which may name fewer addresses. A second policy cannot take back what the first allows. */
async function provide(networking: NetworkingV1Api, namespace: string, body: V1NetworkPolicy): Promise<void> {
  if (await ignoring(409, networking.createNamespacedNetworkPolicy({ namespace, body }))) return;
  await networking.replaceNamespacedNetworkPolicy({ name: body.metadata?.name ?? "", namespace, body });
}

class PodRun {
  readonly #task: Task;
  readonly #cluster: Cluster;
  #isEnded = false;
  #unreachableSince: number | undefined;

  constructor(task: Task, cluster: Cluster) {
    this.#task = task;
    this.#cluster = cluster;
  }

  async exit(): Promise<Exit> {
    const { core, networking, namespace } = this.#cluster;
    try {
      for (const body of networkPolicies) await provide(networking, namespace, body);
      await core.createNamespacedSecret({ namespace, body: secretOf(this.#task) });
      await core.createNamespacedPod({ namespace, body: podOf(this.#task) });
      if (this.#task.image === undefined) this.#task.onNote(`The job has no image: it runs in ${imageOf(this.#task)}.`);
      return await this.#run();
    } catch (error) {
      // Only the log gets the answer, which may describe quotas and policies of the operator.
      const answer = isAnswer(error) ? messageOf(error) : undefined;
      log().warn({ err: error, runId: this.#task.id, answer }, "the cluster could not run a job");
      const reason =
        answer === undefined
          ? "The cluster does not respond. Contact the operator."
          : "The cluster refused the job. Contact the operator.";
      return { kind: "failed", reason };
    } finally {
      this.#isEnded = true;
      await removeAll(this.#cluster, this.#task.id).catch((error: unknown) => {
        log().warn({ err: error, runId: this.#task.id }, "a pod could not be removed");
      });
    }
  }

  kill(): void {
    this.#delete(0);
  }

  #delete(gracePeriodSeconds: number): void {
    if (this.#isEnded) return;
    const { core, namespace } = this.#cluster;
    core.deleteNamespacedPod({ name: nameOf(this.#task.id), namespace, gracePeriodSeconds }).catch(() => undefined);
  }

  async #run(): Promise<Exit> {
    const { signal, graceMs = GRACE_MS } = this.#task;
    const terminate = () => this.#delete(Math.ceil(graceMs / 1000));
    if (signal.aborted) terminate();
    signal.addEventListener("abort", terminate);
    const reading = new AbortController();
    let read: Promise<void> | undefined;
    let last: V1ContainerStatus | undefined;
    try {
      for (;;) {
        const pod = await this.#readPod();
        if (pod === "unreachable") {
          await sleep(POLL_MS);
          continue;
        }
        last = pod?.status?.containerStatuses?.find(({ name }) => name === CONTAINER) ?? last;
        if (last?.state?.running || last?.state?.terminated) read ??= this.#read(reading.signal);
        const exit = exitOf(pod, last);
        if (exit) {
          await Promise.race([read, sleep(LOG_END_MS, undefined, { ref: false })]);
          return exit;
        }
        await sleep(POLL_MS);
      }
    } finally {
      signal.removeEventListener("abort", terminate);
      reading.abort();
    }
  }

  async #readPod(): Promise<V1Pod | undefined | "unreachable"> {
    const { core, namespace } = this.#cluster;
    try {
      const pod = await ignoring(404, core.readNamespacedPod({ name: nameOf(this.#task.id), namespace }));
      this.#unreachableSince = undefined;
      return pod;
    } catch (error) {
      this.#unreachableSince ??= performance.now();
      if (performance.now() - this.#unreachableSince > UNREACHABLE_MAX_MS) throw error;
      return "unreachable";
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    let reported = 0;
    while (!signal.aborted) {
      let at = 0;
      try {
        const stream = await this.#cluster.followLog(nameOf(this.#task.id), CONTAINER, signal);
        for await (const chunk of stream ?? []) {
          const fresh = Buffer.from(chunk).subarray(Math.max(0, reported - at));
          at += chunk.length;
          if (fresh.length > 0) await this.#task.onOutput("stdout", fresh);
          reported = Math.max(reported, at);
        }
        const pod = await this.#readPod();
        const isRunning = pod !== "unreachable" && pod?.status?.containerStatuses?.some(({ state }) => state?.running);
        if (stream && !isRunning) return;
      } catch {
        // The connection ended, and is opened again.
      }
      await sleep(POLL_MS);
    }
  }
}

const TERMINATED = 143;

function exitOf(pod: V1Pod | undefined, status: V1ContainerStatus | undefined): Exit | undefined {
  const ended = status?.state?.terminated;
  if (ended?.reason === "OOMKilled") return { kind: "out_of_memory" };
  if (ended) return { kind: "exited", code: ended.exitCode };
  if (!pod) return { kind: "exited", code: TERMINATED };
  const waiting = status?.state?.waiting;
  if (waiting?.reason && NEVER_STARTS.has(waiting.reason)) {
    // For an image, the message would contain the registry's response.
    const more = waiting.message && !waiting.reason.includes("Image") ? `: ${waiting.message.slice(0, 300)}` : "";
    return { kind: "failed", reason: `The container cannot be started (${waiting.reason}${more}).` };
  }
  if (pod.status?.phase !== "Failed") return undefined;
  return { kind: "failed", reason: `The cluster ended the pod (${pod.status.reason ?? "no reason given"}).` };
}
