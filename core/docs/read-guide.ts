import { readFile } from "node:fs/promises";
import { countWork } from "../fair-queue/party.ts";
import { sourcePath } from "../source-path.ts";
import type { Filling } from "./fill-in.ts";
import { type Guide, type GuideSection, guideSections, guides } from "./guides.ts";
import { type RenderedGuide, renderGuide } from "./render-guide.ts";

const KEPT_MAX = 100;
const kept = new Map<string, RenderedGuide>();

export async function readGuide(slug: string): Promise<(Guide & { markdown: string }) | undefined> {
  const guide = guides.find((one) => one.slug === slug);
  if (!guide) return undefined;
  try {
    return { ...guide, markdown: await readFile(sourcePath(guide.path), "utf8") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export function renderCachedGuide({ path, markdown }: { path: string; markdown: string }, filling: Filling): RenderedGuide {
  if (filling.app) return renderCounted(markdown, path, filling);
  const key = JSON.stringify([path, markdown.length, markdown, filling]);
  const known = kept.get(key);
  if (known) return known;
  const made = renderCounted(markdown, path, filling);
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(key, made);
  return made;
}

function renderCounted(...guide: Parameters<typeof renderGuide>): RenderedGuide {
  const startedAt = performance.now();
  const made = renderGuide(...guide);
  countWork(performance.now() - startedAt);
  return made;
}

export async function listGuides(): Promise<readonly GuideSection[]> {
  const sections = await Promise.all(
    guideSections.map(async ({ label, guides: all }) => {
      const read = await Promise.all(all.map(({ slug }) => readGuide(slug)));
      return { label, guides: all.filter((_, index) => read[index] !== undefined) };
    }),
  );
  return sections.filter(({ guides: all }) => all.length > 0);
}
