import { env } from "../env.ts";
import { invalidRequest } from "../errors.ts";

/**
 * The grammar of github.com/distribution/reference. An engine that read a name differently could pull from a forbidden registry.
 */
type ImageReference = {
  registry: string;
  repository: string;
  tag?: string;
  digest?: string;
};

/** Names are completed, because an engine has rules of its own for short names. */
export type FullName = { name: string; repository: string; tagOrDigest: string; isPinned: boolean };
type AllowedImage = FullName & { isLocal: boolean };

const LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const REGISTRY = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:]+\\])(?::[0-9]{1,5})?$`);
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/;
const NAME_MAX = 255;
const DOCKER_HUB = "docker.io";

export function parseImageReference(text: string): ImageReference | undefined {
  const [named = "", digest, ...more] = text.split("@");
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined;
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  const [path, tag] = colon === -1 ? [named, undefined] : [named.slice(0, colon), named.slice(colon + 1)];
  if (tag !== undefined && !TAG.test(tag)) return undefined;
  const [first = "", ...rest] = path.split("/");
  // By this rule of the grammar, `localhost/image` is not an image on Docker Hub.
  const hasRegistry = rest.length > 0 && (/[.:[]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const asked = hasRegistry ? first.toLowerCase() : DOCKER_HUB;
  const registry = asked === "index.docker.io" ? DOCKER_HUB : asked;
  const components = hasRegistry ? rest : [first, ...rest];
  if (registry === DOCKER_HUB && components.length === 1) components.unshift("library");
  const repository = components.join("/");
  if (!REGISTRY.test(registry) || !components.every((component) => COMPONENT.test(component))) return undefined;
  if (registry.length + 1 + repository.length > NAME_MAX) return undefined;
  return { registry, repository, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

export function fullNameOf({ registry, repository, digest, tag = "latest" }: ImageReference): FullName {
  const full = `${registry}/${repository}`;
  return {
    name: `${full}${digest ? `@${digest}` : `:${tag}`}`,
    repository: full,
    tagOrDigest: digest ?? tag,
    isPinned: digest !== undefined,
  };
}

export function allowImage(image: string): AllowedImage | { refusal: string } {
  const reference = parseImageReference(image);
  if (!reference) {
    const form = "[registry/]name[:tag][@digest], such as python:3.12 or registry.example.com/team/tool@sha256:…";
    return { refusal: `This is not the name of an image. Enter it as ${form}, in lower case.` };
  }
  const full = fullNameOf(reference);
  if (env().JOBS_LOCAL_IMAGES.some((entry) => isLocal(reference, entry))) return { ...full, isLocal: true };
  const isListed = env().JOBS_REGISTRIES.some((entry) => full.repository.startsWith(`${entry}/`) || full.repository === entry);
  if (isListed) return { ...full, isLocal: false };
  return {
    refusal: `Jobs cannot use the image ${full.repository}. Allowed: ${offered()} The operator can allow more (JOBS_REGISTRIES).`,
  };
}

function isLocal({ registry, repository, tag = "latest" }: ImageReference, entry: string): boolean {
  const listed = parseImageReference(entry);
  if (listed?.registry !== registry || listed.repository !== repository) return false;
  return listed.tag === undefined || listed.tag === tag;
}

function offered(): string {
  const registries = env().JOBS_REGISTRIES.map((entry) =>
    entry === "docker.io/library" ? "Docker Hub's official images, such as python:3.12" : `images that begin with ${entry}/`,
  );
  const all = [...registries, ...env().JOBS_LOCAL_IMAGES];
  return all.length > 0 ? `${all.join("; ")}.` : "none.";
}

/** Bubblewrap has no images, so it accepts every valid name. */
export function requireImage(image: string, field = "dockerImage"): void {
  const pulls = env().JOBS_RUNNER === "docker" || env().JOBS_RUNNER === "kubernetes";
  const allowed = allowImage(image);
  if ("refusal" in allowed && (pulls || !parseImageReference(image))) throw invalidRequest(allowed.refusal, field);
}
