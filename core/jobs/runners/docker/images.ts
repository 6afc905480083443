import type Docker from "dockerode";
import { env } from "../../../env.ts";
import { log } from "../../../log.ts";
import { serviceMark } from "../../../temporary-folder.ts";
import { allowImage, type FullName, fullNameOf, parseImageReference } from "../../image-reference.ts";
import { ignoring, statusOf } from "./engine.ts";

export class ImageRefused extends Error {
  override name = "ImageRefused";
}

const MEBIBYTE = 1024 ** 2;
/** A name's ID is remembered for this long, because registries limit requests. */
const RESOLVED_MS = 10 * 60_000;
const PULL_MS = 15 * 60_000;
const RECENTLY_USED_SECONDS = 120;

type Resolved = { id: string; at: number };
const resolved = new Map<string, Resolved>();
let pullsUnderWay = 0;

/** Returns the inspected image's hash. The registry is asked, because a local image of this name may be the operator's own. */
export async function provideImage(
  engine: Docker,
  image: string,
  task: { signal: AbortSignal; onNote(sentence: string): void },
): Promise<string> {
  const allowed = allowImage(image);
  if ("refusal" in allowed) throw new ImageRefused(allowed.refusal);
  if (allowed.isLocal)
    return (await inspectImage(engine, allowed.name, `The image ${allowed.name} no longer exists. Use another one.`)).Id;
  const known = resolved.get(allowed.name);
  if (known && (allowed.isPinned || Date.now() - known.at < RESOLVED_MS) && (await isThere(engine, known.id))) {
    await markUsed(engine, known.id);
    return known.id;
  }
  task.onNote(`Pulling ${allowed.name}.`);
  const id = await pullChecked(engine, allowed, task.signal);
  resolved.set(allowed.name, { id, at: Date.now() });
  return id;
}

/** For jobs without an image. This service never removes the image. */
export async function provideNodeImage(
  engine: Docker,
  task: { signal: AbortSignal; onNote(sentence: string): void },
): Promise<string> {
  const reference = parseImageReference(env().JOBS_NODE_IMAGE);
  if (!reference) throw new ImageRefused("JOBS_NODE_IMAGE is not the name of an image.");
  const full = fullNameOf(reference);
  if ((await ignoring(404, engine.getImage(full.name).inspect())) === undefined) {
    task.onNote(`Pulling ${full.name}.`);
    await pull(engine, full, task.signal);
  }
  return (await inspectImage(engine, full.name, `The required image ${full.name} does not exist. Contact the operator.`)).Id;
}

async function inspectImage(engine: Docker, name: string, refusal: string): Promise<Docker.ImageInspectInfo> {
  const found = await ignoring(404, engine.getImage(name).inspect());
  if (!found) throw new ImageRefused(refusal);
  requireNoVolumes(found, name);
  return found;
}

const isThere = async (engine: Docker, id: string): Promise<boolean> =>
  (await ignoring(404, engine.getImage(id).inspect())) !== undefined;

async function pullChecked(engine: Docker, full: FullName, signal: AbortSignal): Promise<string> {
  // Each running pull reserves the maximum size of an image.
  const reserved = (pullsUnderWay + 1) * env().JOBS_IMAGE_MAX_MB * MEBIBYTE;
  const { name } = full;
  pullsUnderWay++;
  try {
    await pruneImages(engine, reserved);
    const before = new Set((await engine.listImages()).map(({ Id }) => Id));
    await pull(engine, full, signal);
    const found = await engine.getImage(name).inspect();
    const isOurs = !before.has(found.Id) || lastUseOf(found.RepoTags) !== undefined;
    try {
      if (found.Size > env().JOBS_IMAGE_MAX_MB * MEBIBYTE) throw tooLarge(name);
      requireNoVolumes(found, name);
    } catch (error) {
      if (isOurs) await remove(engine, found.Id);
      throw error;
    }
    if (isOurs) await markUsed(engine, found.Id);
    return found.Id;
  } finally {
    pullsUnderWay--;
  }
}

const tooLarge = (name: string) =>
  new ImageRefused(
    `The image ${name} is larger than the limit of ${env().JOBS_IMAGE_MAX_MB} MiB (JOBS_IMAGE_MAX_MB). Use a smaller one.`,
  );

/** The engine would create each volume on the disk, writable and without a limit. */
function requireNoVolumes({ Config }: Docker.ImageInspectInfo, name: string): void {
  const volumes = Object.keys(Config?.Volumes ?? {});
  if (volumes.length === 0) return;
  const named = volumes
    .slice(0, 3)
    .map((path) => path.slice(0, 100))
    .join(", ");
  throw new ImageRefused(
    `The image ${name} declares volumes (${named}), which could fill the disk. Use an image without VOLUME.`,
  );
}

async function pull(engine: Docker, { name, repository, tagOrDigest }: FullName, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PULL_MS)]);
  const sizes = new Map<string, number>();
  let isTooLarge = false;
  try {
    const progress = (await engine.createImage({
      fromImage: repository,
      tag: tagOrDigest,
    })) as unknown as AsyncIterable<Buffer> & { destroy(): void };
    const stop = () => progress.destroy();
    limit.addEventListener("abort", stop);
    if (limit.aborted) stop();
    let rest = "";
    try {
      for await (const chunk of progress) {
        const lines = (rest + chunk.toString("utf8")).split("\n");
        rest = lines.pop()?.slice(0, 100_000) ?? "";
        for (const line of lines.filter(Boolean)) {
          const message = JSON.parse(line) as { error?: string; id?: string; progressDetail?: { total?: number } };
          if (message.error !== undefined) throw new Error(message.error);
          if (message.id && message.progressDetail?.total) sizes.set(message.id, message.progressDetail.total);
        }
        // The size is checked again afterwards, because an engine may report no sizes before it unpacks.
        isTooLarge = [...sizes.values()].reduce((sum, size) => sum + size, 0) > env().JOBS_IMAGE_MAX_MB * MEBIBYTE;
        if (isTooLarge) break;
      }
    } finally {
      limit.removeEventListener("abort", stop);
      progress.destroy();
    }
    limit.throwIfAborted();
  } catch (error) {
    log().warn({ err: error, image: name }, "an image could not be pulled");
    // An error without a status means that no engine answers at the socket.
    if (statusOf(error) === undefined && (error as NodeJS.ErrnoException).code !== undefined && !limit.aborted) throw error;
    // The registry's response is left out, because it may come from a host that the user cannot reach.
    throw new ImageRefused(
      `The image ${name} could not be pulled: it does not exist, is not public, or its registry refused it. The service's log has details.`,
    );
  }
  if (isTooLarge) throw tooLarge(name);
}

/** A tag stores the last use, because all workers share the engine. An image without such a tag is somebody else's, and stays. */
const tagName = (): string => `keyhook.internal/jobs-${serviceMark()}`;
const TAG = /:(\d+)-[0-9a-f]+$/;

function lastUseOf(tags: readonly string[] | undefined): number | undefined {
  const uses = (tags ?? []).filter((tag) => tag.startsWith(`${tagName()}:`)).map((tag) => Number(TAG.exec(tag)?.[1] ?? 0));
  return uses.length > 0 ? Math.max(...uses) : undefined;
}

async function markUsed(engine: Docker, id: string): Promise<void> {
  const found = await engine.getImage(id).inspect();
  const before = found.RepoTags.filter((tag) => tag.startsWith(`${tagName()}:`));
  const tag = `${Math.floor(Date.now() / 1_000)}-${id.replace(/^sha256:/, "").slice(0, 12)}`;
  await engine.getImage(id).tag({ repo: tagName(), tag });
  for (const old of before) {
    if (old !== `${tagName()}:${tag}`) await ignoring(404, engine.getImage(old).remove());
  }
}

export async function pruneImages(engine: Docker, reserved = 0): Promise<void> {
  const now = Date.now() / 1_000;
  const [images, containers] = await Promise.all([engine.listImages(), engine.listContainers({ all: true })]);
  const there = new Set(images.map(({ Id }) => Id));
  for (const [name, { id }] of resolved) if (!there.has(id)) resolved.delete(name);
  const used = new Set(containers.map(({ ImageID }) => ImageID));
  const ours = images
    .map(({ Id, Size, RepoTags }) => ({ id: Id, size: Size, usedAt: lastUseOf(RepoTags ?? undefined) }))
    .filter((image): image is typeof image & { usedAt: number } => image.usedAt !== undefined)
    .sort((one, other) => one.usedAt - other.usedAt);
  let over = ours.reduce((sum, { size }) => sum + size, reserved) - env().JOBS_IMAGE_CACHE_MB * MEBIBYTE;
  for (const { id, size, usedAt } of ours) {
    if (over <= 0) return;
    if (used.has(id) || usedAt > now - RECENTLY_USED_SECONDS) continue;
    await remove(engine, id);
    over -= size;
  }
  if (over > 0 && reserved > 0) throw new ImageRefused("There is no disk space left for job images. Try again in a few minutes.");
}

async function remove(engine: Docker, id: string): Promise<void> {
  await engine
    .getImage(id)
    .remove({ force: true })
    .catch((error: unknown) => {
      // 409 means that a container uses the image.
      if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error;
    });
}
