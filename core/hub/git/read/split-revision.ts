/**
 * Splits what follows `tree/` or `resolve/` in an address into a revision and a path. Refs in full (`refs/pr/3`) come with their
 * slashes as they are from clients that do not encode them; a slash in a branch's name is always `%2F`.
 * @param segments decoded
 */
export function splitRevision([first = "", ...rest]: readonly string[]): { revision: string; path: string } {
  const isRef = first === "refs" && rest.length >= 2 && ["heads", "tags", "pr", "convert"].includes(rest[0] ?? "");
  const [revision, path] = isRef ? [[first, ...rest.slice(0, 2)].join("/"), rest.slice(2)] : [first, rest];
  return { revision, path: path.join("/").replace(/\/$/, "") };
}
