import { contentKey, Remembered } from "../../subprocesses/remembered.ts";
import { type Outcome, SubprocessPool, type SubprocessPoolOptions } from "../../subprocesses/subprocess-pool.ts";
import type { RenderRequest } from "./markdown-subprocess.ts";
import type { MarkdownContext } from "./resolve-addresses.ts";

const MARKDOWN_MAX_CHARACTERS = 1024 * 1024;

export type SafeHtml = string & { readonly brand: unique symbol };

/** "slow" and "too much" depend only on the text. "too large" also depends on the folder, whose name each link contains. */
type Verdict = "slow" | "too large" | "too much";

// Each bundle of Next creates its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookMarkdown?: ReturnType<typeof newMarkdown> };
keeper.keyhookMarkdown ??= newMarkdown();
const markdown = keeper.keyhookMarkdown;

function newMarkdown() {
  const pool = (options: Pick<SubprocessPoolOptions, "name" | "subprocesses" | "cpuMaxMs" | "niceness">) =>
    new SubprocessPool<RenderRequest, SafeHtml>({
      ...options,
      module: "core/hub/markdown/markdown-subprocess.ts",
      memoryMaxMb: 256,
    });
  return {
    quick: pool({ name: "markdown", subprocesses: 4, cpuMaxMs: 200, niceness: 5 }),
    slow: pool({ name: "slow_markdown", subprocesses: 2, cpuMaxMs: 3_000, niceness: 19 }),
    html: new Remembered<SafeHtml>({ entries: 5_000, characters: 16 * 1024 * 1024 }),
    verdicts: new Remembered<Verdict>({ entries: 20_000, characters: 1024 * 1024 }),
  };
}

/** @returns undefined if the text is too long or too deep, or takes too long */
export async function renderMarkdown(text: string, context: MarkdownContext = {}): Promise<SafeHtml | undefined> {
  if (text.length > MARKDOWN_MAX_CHARACTERS) return undefined;
  const { base = "", revision = "", folder = "", idPrefix = "" } = context;
  return render(
    { text, context },
    { content: contentKey(text), key: contentKey(text, base, revision, folder, idPrefix), within: base },
  );
}

/**
 * @returns undefined if the language is not one of the common ones of `lowlight`, or the result is too large or takes too long
 */
export async function renderCode(code: string, language: string): Promise<SafeHtml | undefined> {
  const key = contentKey("code", language, code);
  return render({ code, language }, { content: key, key, within: "" });
}

type Keys = {
  /** A hash of the text, which alone decides how long rendering takes. */
  content: string;
  /** A hash of all that the result depends on. */
  key: string;
  within: string;
};

async function render(request: RenderRequest, { content, key, within }: Keys): Promise<SafeHtml | undefined> {
  const { quick, slow, html, verdicts } = markdown;
  const known = (): Outcome<SafeHtml> | undefined => {
    const answer = html.get(key);
    if (answer !== undefined) return { answer };
    if (verdicts.get(key) === "too large") return "too large";
    return verdicts.get(content) === "too much" ? "too much" : undefined;
  };
  const knownInQuick = () => known() ?? (verdicts.get(content) ? "too much" : undefined);
  let outcome = known() ?? knownInQuick() ?? (await quick.ask(request, { within, known: knownInQuick }));
  if (outcome === "too much" && verdicts.get(content) !== "too much") {
    verdicts.set(content, "slow", content.length);
    outcome = await slow.ask(request, { within, known });
    if (outcome === "too much") verdicts.set(content, "too much", content.length);
  }
  if (outcome === "too large") verdicts.set(key, outcome, key.length);
  if (typeof outcome === "string") return undefined;
  html.set(key, outcome.answer, outcome.answer.length);
  return outcome.answer;
}
