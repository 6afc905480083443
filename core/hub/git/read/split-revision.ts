/**
 * Splits the part of a URL after `tree/` or `resolve/` into a revision and a path. Clients that do not encode full refs (`refs/pr/3`) send
 * their slashes unchanged; a slash in a branch's name is always `%2F`.
 * @param segments decoded
 */
export function splitRevision([first = "", ...rest]: readonly string[]): { revision: string; path: string } {
  const isRef = first === "refs" && rest.length >= 2 && ["heads", "tags", "pr", "convert"].includes(rest[0] ?? "");
  const [revision, path] = isRef ? [[first, ...rest.slice(0, 2)].join("/"), rest.slice(2)] : [first, rest];
  return { revision, path: path.join("/").replace(/\/$/, "") };
}
