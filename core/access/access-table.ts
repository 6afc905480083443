import { type Scope, scopes } from "@keyhook/sdk";
import type { Resources, Rule, TokenScopes } from "./rule.ts";
import { type Action, rules } from "./rules.ts";

/** docs/access.md contains the result. */
export function accessTable(): string {
  return [byPerson(), byToken(), byScope()].join("\n\n");
}

const actions = Object.entries(rules) as [Action, Rule][];

const subjects: Record<keyof Resources, string> = {
  installation: "The service",
  user: "A user",
  organization: "An organization",
  oauthApp: "An OAuth app",
  namespace: "A namespace",
  repo: "A repository",
  contribution: "A discussion or a comment",
  collection: "A collection",
};

function byPerson(): string {
  const tables = Object.entries(subjects).map(([on, title]) => {
    const rows = actions
      .filter(([, rule]) => rule.on === on)
      .map(([action, rule]) => [
        code(action),
        openTo(rule),
        mark(rule.owner),
        rule.role ? `${rule.role}${rule.beforeRestrictions ? " †" : ""}` : "",
        rule.creator ?? "",
        mark(rule.author),
        mark(rule.operator),
        mark(rule.publisher),
        [rule.also && `may also ${code(rule.also)}`, rule.recent && "recent authentication"].filter(Boolean).join("; "),
        refusalOf(rule),
      ]);
    return rows.length === 0 ? "" : `### ${title}\n\n${table(personColumns, rows)}`;
  });
  return ["## Who", ...tables.filter(Boolean)].join("\n\n");
}

const personColumns = [
  "Action",
  "Anybody",
  "Owner",
  "Member, from",
  "Its creator, from",
  "Author",
  "Operator",
  "CI job",
  "Only if",
  "Refused with",
];

function openTo({ everyone, public: openness }: Rule): string {
  if (everyone) return "signed in";
  if (openness === "read") return "if public";
  if (openness === "granted") return "if public; if gated, users with access";
  return openness === "signed-in" ? "signed in, if public" : "";
}

function refusalOf({ refusal, tellsScope }: Rule): string {
  if (refusal === "forbidden") return "403";
  if (refusal === "not_found") return tellsScope ? "404, or 403 where only a scope is missing" : "404";
  return `404, or 403 where ${code(refusal)} is allowed`;
}

function byToken(): string {
  const rows = actions.flatMap(([action, { on, token, public: openness, ownPrograms }]) => {
    const open = openness === "read" || openness === "granted" ? "any" : "";
    if (token === "any") return [[code(action), "any", "any", "", "", "", "any"]];
    if (!token) return [];
    const { own, organization, made, granted, public: ofPublic } = token as TokenScopes;
    const exchanged = on === "user" || ownPrograms ? [] : [...new Set([...(own ?? []), ...(organization ?? [])])];
    const name = ownPrograms ? `${code(action)} ‡` : code(action);
    return [[name, list(own), list(organization), list(made), list(granted), list(ofPublic) || open, list(exchanged)]];
  });
  const none = actions.filter(([, { token }]) => !token).map(([action]) => code(action));
  const columns = ["Action", ...ways, "Exchanged: its organization's"];
  return `## With which scopes\n\n${table(columns, rows)}\n\nActions that no token allows: ${none.join(", ")}.`;
}

function byScope(): string {
  const opened = (scope: Scope, way: keyof TokenScopes): string =>
    actions
      .filter(([, { token }]) => token !== "any" && token?.[way]?.includes(scope))
      .map(([action]) => code(action))
      .join(" ");
  const rows = scopes.map((scope) => [
    code(scope),
    ...(["own", "organization", "made", "granted", "public"] as const).map((way) => opened(scope, way)),
  ]);
  const reaching = rows.filter(([, ...cells]) => cells.some(Boolean));
  const others = rows.filter((row) => !reaching.includes(row)).map(([scope]) => scope);
  return [
    "## What each scope opens",
    table(["Scope", ...ways], reaching),
    `Scopes that allow no action in this table: ${others.join(", ")}.`,
  ].join("\n\n");
}

const ways = ["Own", "A granted organization's", "Created by the app", "Gated, with access", "Public"];

const code = (text: string): string => `\`${text}\``;
const mark = (is: true | undefined): string => (is ? "yes" : "");
const list = (of: readonly Scope[] = []): string => of.map(code).join(" ");

function table(allColumns: readonly string[], allRows: readonly (readonly string[])[]): string {
  const isFilled = (_: string, at: number) => allRows.some((row) => row[at]);
  const [columns, rows] = [allColumns.filter(isFilled), allRows.map((row) => row.filter(isFilled))];
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => (row[at] ?? "").length)));
  const line = (cells: readonly string[]) => `| ${widths.map((width, at) => (cells[at] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
