import { common, createLowlight } from "lowlight";
import { renderCode, type SafeHtml } from "#core/hub/markdown/render-markdown.ts";

/** More is shown without colours. */
const COLOURED_MAX_CHARACTERS = 64 * 1024;
const COLOURED_LINE_MAX_CHARACTERS = 2_000;
const NAMED: Record<string, string> = { makefile: "makefile", gnumakefile: "makefile", gemfile: "ruby", rakefile: "ruby" };

const lowlight = createLowlight(common);

/** A text in the colours of its language; undefined where the file's name tells none that is known, or the text is too much. */
export async function highlight(text: string, fileName: string): Promise<SafeHtml | undefined> {
  const language = languageOf(fileName);
  if (!language || text.length > COLOURED_MAX_CHARACTERS) return undefined;
  if (text.split("\n").some(({ length }) => length > COLOURED_LINE_MAX_CHARACTERS)) return undefined;
  return renderCode(text, language);
}

function languageOf(fileName: string): string | undefined {
  const name = fileName.toLowerCase();
  const language = NAMED[name] ?? /\.([a-z0-9+#-]+)$/.exec(name)?.[1];
  return language && lowlight.registered(language) ? language : undefined;
}
