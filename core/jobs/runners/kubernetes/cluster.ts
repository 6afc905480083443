import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { CoreV1Api, KubeConfig, NetworkingV1Api } from "@kubernetes/client-node";
import { env } from "../../../env.ts";

export type Cluster = {
  namespace: string;
  core: CoreV1Api;
  networking: NetworkingV1Api;
  /** Returns the labels of each Secret, without its content. */
  labelsOfSecrets(selector: string): Promise<Record<string, string>[]>;
  followLog(pod: string, container: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
};

export async function connect(): Promise<Cluster> {
  const client = await import("@kubernetes/client-node");
  const config: KubeConfig = new client.KubeConfig();
  config.loadFromDefault();
  const namespace = env().JOBS_KUBERNETES_NAMESPACE;
  const core = config.makeApiClient(client.CoreV1Api);
  return {
    namespace,
    core,
    networking: config.makeApiClient(client.NetworkingV1Api),
    async labelsOfSecrets(labelSelector) {
      const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
      const { items } = await core.listNamespacedSecret({ namespace, labelSelector }, client.setHeaderOptions("Accept", accept));
      return items.map(({ metadata }) => metadata?.labels ?? {});
    },
    // Does not use the client's own function, where an error in the middle of the stream would end the process.
    async followLog(pod, container, signal) {
      const server = config.getCurrentCluster()?.server;
      if (!server) throw new Error("no cluster is configured");
      const url = `${server}/api/v1/namespaces/${namespace}/pods/${pod}/log?container=${container}&follow=true`;
      const options: RequestOptions = { headers: {}, signal };
      await config.applyToHTTPSOptions(options);
      const send = url.startsWith("https:") ? httpsRequest : httpRequest;
      const [answer] = (await once(send(url, options).end(), "response")) as [IncomingMessage];
      if (answer.statusCode === 200) return answer;
      answer.resume();
      return undefined;
    },
  };
}

const codeOf = (error: unknown): number | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
};

export const isAnswer = (error: unknown): boolean => codeOf(error) !== undefined;

export async function ignoring<T>(code: number, answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (codeOf(error) === code) return undefined;
    throw error;
  });
}

export function messageOf(error: unknown): string {
  const { body } = error as { body?: unknown };
  const message = typeof body === "string" ? (parse(body)?.message ?? body) : (body as { message?: string } | undefined)?.message;
  return (message ?? (error as Error).message).slice(0, 300);
}

function parse(text: string): { message?: string } | undefined {
  try {
    return JSON.parse(text) as { message?: string };
  } catch {
    return undefined;
  }
}
