import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { settingNames } from "#core/env.ts";
import { networkPolicies } from "#core/jobs/runners/kubernetes/objects.ts";
import packageJson from "../../package.json" with { type: "json" };

/** What ships beside the code and is run by other programs: that it speaks of settings, ports and commands that there are. */
const ROOT = join(import.meta.dirname, "../..");
const CHART = "deploy/helm/keyhook";
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const dockerfile = read("Dockerfile");
const compose = parse(read("compose.yaml"), { merge: true });
const values = parse(read(`${CHART}/values.yaml`));
const templates = readdirSync(join(ROOT, CHART, "templates")).map((name) => read(`${CHART}/templates/${name}`));

const image = Object.fromEntries([...dockerfile.matchAll(/([A-Z_]{3,})=(\S+)/g)].map(([, name, value]) => [name, value]));
const names = new Set(settingNames);
/** Next's and Kubernetes's own. */
const others = new Set(["NEXT_TELEMETRY_DISABLED", "NODE_IMAGE", "POD_IP", "POSTGRES_PASSWORD"]);
const unknown = (found: Iterable<string>) => [...found].filter((name) => !names.has(name) && !others.has(name));

describe("the image", () => {
  it("names settings that there are, and the Node that the project has", () => {
    expect(unknown(Object.keys(image))).toEqual([]);
    expect(image.NODE_IMAGE).toBe(`node:${packageJson.dependencies.node.split(".")[0]}-slim`);
    expect(dockerfile).toContain(`EXPOSE ${image.PORT}\n`);
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(dockerfile).toContain(`VOLUME ${image.DATA_DIR}\n`);
  });
});

describe("compose.yaml", () => {
  const ours = Object.entries<Service>(compose.services).filter(([name]) => name !== "postgres");
  type Service = { environment: Record<string, string>; command: string[]; healthcheck: { test?: string[] }; ports?: string[] };

  it("names settings that there are, with the image's ports and folder", () => {
    expect(ours.map(([name]) => name)).toEqual(["migrate", "web", "worker", "admin"]);
    for (const [, { environment }] of ours) {
      expect(unknown(Object.keys(environment))).toEqual([]);
      for (const name of ["PORT", "WORKER_HEALTH_PORT", "DATA_DIR"]) expect(environment[name]).toBe(image[name]);
    }
    expect(compose.services.web.ports).toEqual([`\${PUBLISH:-3000}:${image.PORT}`]);
    expect(compose.services.web.healthcheck.test.join(" ")).toContain(`:${image.PORT}/readyz`);
    expect(compose.services.worker.healthcheck.test.join(" ")).toContain(`:${image.WORKER_HEALTH_PORT}/healthz`);
    for (const kind of ["web", "worker"])
      expect(compose.services[kind].command).toEqual(["node", "supervisor.ts", "--only", kind]);
  });

  it("S116 gives the owner's password to what migrates and to the operator's command, and to nothing that answers requests", () => {
    for (const [name, { environment }] of ours) {
      // Set, though empty: `env_file` would bring it otherwise.
      expect(environment.POSTGRES_PASSWORD).toBe("");
      const isOwner = name === "migrate" || name === "admin";
      expect(environment.DATABASE_OWNER_URL, name).toEqual(isOwner ? expect.stringContaining("POSTGRES_PASSWORD") : "");
      expect(environment.DATABASE_URL).toContain("keyhook_service");
    }
    for (const kind of ["web", "worker"]) {
      expect(compose.services[kind].depends_on).toEqual({ migrate: { condition: "service_completed_successfully" } });
      expect(JSON.stringify({ ...compose.services[kind], environment: {} })).not.toContain("POSTGRES_PASSWORD");
    }
    expect(compose.services.migrate.command).toEqual(["node", "scripts/admin.ts", "database", "migrate"]);
  });

  it("names volumes, configs and services that it has", () => {
    const mounted = Object.values<{ volumes?: string[] }>(compose.services).flatMap(({ volumes = [] }) => volumes);
    expect([...new Set(mounted.map((volume) => volume.split(":")[0]))].sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(compose.services.postgres.configs.map(({ source }: { source: string }) => source)).toEqual(
      Object.keys(compose.configs),
    );
    for (const [, { environment }] of ours) expect(environment.DATABASE_URL).toContain("@postgres:5432/keyhook");
  });
});

describe("the chart", () => {
  it("names settings that there are, with the image's ports and folder", () => {
    const found = templates.flatMap((text) =>
      [...text.matchAll(/^\s*(?:- name: |)([A-Z][A-Z0-9_]{3,})(?::|$)/gm)].map(([, name]) => name as string),
    );
    expect(found.length).toBeGreaterThan(8);
    expect(unknown(new Set(found))).toEqual([]);
    const all = templates.join("\n");
    expect(all).toContain(`name: PORT\n  value: "${image.PORT}"`);
    expect(all).toContain(`name: WORKER_HEALTH_PORT\n  value: "${image.WORKER_HEALTH_PORT}"`);
    expect(all).toContain(`name: DATA_DIR\n  value: ${image.DATA_DIR}`);
    for (const port of [image.PORT, image.WORKER_HEALTH_PORT]) expect(all).toContain(`containerPort: ${port} }`);
    for (const kind of ["web", "worker"]) expect(all).toContain(`args: ["node", "supervisor.ts", "--only", "${kind}"]`);
  });

  it("lets the worker replace its own network policies, and no others", () => {
    const names = networkPolicies.map(({ metadata }) => metadata?.name).join(", ");
    expect(templates.join("\n")).toContain(`resources: [networkpolicies]\n    resourceNames: [${names}]\n    verbs: [update]`);
  });

  it("is of this version, and uses each of its values", () => {
    const chart = parse(read(`${CHART}/Chart.yaml`));
    expect([chart.version, chart.appVersion]).toEqual([packageJson.version, packageJson.version]);
    const all = templates.join("\n");
    const unused = pathsOf(values).filter((path) => !all.includes(`.Values.${path}`));
    expect(unused).toEqual([]);
    const used = [...all.matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, path]) => path as string);
    expect(used.filter((path) => path.split(".").reduce((at, key) => at?.[key], values) === undefined)).toEqual([]);
  });
});

/** Each value by its path; what is passed on whole counts as one. */
function pathsOf(value: Record<string, unknown>, before = ""): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = before + name;
    const isWhole =
      /^(settings|.*[rR]esources|.*Context|.*annotations|.*(Selector|affinity))$/.test(path) || typeof inner !== "object";
    return isWhole || inner === null || Array.isArray(inner) || Object.keys(inner).length === 0
      ? [path]
      : pathsOf(inner as Record<string, unknown>, `${path}.`);
  });
}
