/** Characters outside of quotes that only a shell understands. */
const SHELL_SYNTAX = /[|&;<>$`*?(){}~#\n]/;

/** If the command needs a shell, a shell gets the whole line. @returns undefined if a quote is not closed */
export function commandWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let isForShell = false;
  const text = line.trim();
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === "'" || character === '"') {
      const end = closingQuote(text, at);
      if (end === undefined) return undefined;
      const quoted = text.slice(at + 1, end);
      if (character === '"' && /[$`]/.test(quoted.replace(/\\./gs, ""))) isForShell = true;
      word = (word ?? "") + (character === "'" ? quoted : quoted.replace(/\\(["\\$`])/g, "$1"));
      at = end;
    } else if (character === "\\") {
      at += 1;
      word = (word ?? "") + (text[at] ?? "");
    } else if (/\s/.test(character) && character !== "\n") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      if (SHELL_SYNTAX.test(character)) isForShell = true;
      word = (word ?? "") + character;
    }
  }
  if (word !== undefined) words.push(word);
  return isForShell ? ["sh", "-c", text] : words;
}

function closingQuote(text: string, from: number): number | undefined {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === "\\") at += 1;
    else if (text[at] === quote) return at;
  }
  return undefined;
}

export function commandLine(words: readonly string[]): string {
  const [shell, option, script] = words;
  const isScript = words.length === 3 && /^(\/bin\/)?(ba)?sh$/.test(shell ?? "") && option === "-c" && script;
  if (isScript && sameWords(commandWords(script), words)) return script;
  return words.map(quoted).join(" ");
}

const sameWords = (some: readonly string[] | undefined, others: readonly string[]): boolean =>
  some?.length === others.length && some.every((word, at) => word === others[at]);

function quoted(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Quoted values may span several lines. @returns the variables, or the number of the first invalid line */
export function variablesOf(text: string): { variables: Record<string, string> } | { wrongLine: number } {
  const variables: Record<string, string> = {};
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const [, name, first = ""] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]{0,254})=(.*)$/s.exec(line) ?? [];
    if (name === undefined) return { wrongLine: at + 1 };
    const parts = [first];
    const quote = /^(["'])/.exec(first)?.[1];
    const begun = at;
    // Examines only the new line. Examining all lines again each time would take minutes for a large field (S138).
    for (let isOpen = quote !== undefined && !(first.length > 1 && ends(first, quote)); isOpen; ) {
      at += 1;
      const line = lines[at];
      if (line === undefined) return { wrongLine: begun + 1 };
      parts.push(line);
      isOpen = !ends(line, quote as string);
    }
    const value = parts.join("\n");
    variables[name] = quote ? value.trimEnd().slice(1, -1) : value.trim();
  }
  return { variables };
}

const ends = (line: string, quote: string): boolean => line.trimEnd().endsWith(quote);

export function variableLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${/[\n\s]|^["'#]/.test(value) ? `"${value}"` : value}`)
    .join("\n");
}
