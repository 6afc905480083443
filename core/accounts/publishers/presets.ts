import { ServiceError } from "../../errors.ts";

export const presetNames = ["github", "gitlab", "circleci", "bitbucket", "oidc"] as const;
export type PresetName = (typeof presetNames)[number];

export const isPresetName = (text: unknown): text is PresetName => presetNames.includes(text as PresetName);

/** Required claims by name: text compared with a string, or with a number or boolean in JSON form. */
export type Claims = Readonly<Record<string, string>>;

export type PresetField = Readonly<{
  /** Unique across all presets: forms use it unchanged. */
  name: string;
  label: string;
  hint: string;
  placeholder: string;
  isRequired: boolean;
  /** What the provider itself accepts; otherwise the sentence is shown beside the field. */
  shape: RegExp;
  problem: string;
}>;

/** A CI provider: what to ask its users in its own terms, and what that means in its tokens. */
export type Preset = Readonly<{
  /** The provider's usual name; `<label> [OIDC]` is the author of its commits. */
  label: string;
  fields: readonly PresetField[];
  /** @param values of the completed fields */
  read(values: Readonly<Record<string, string | undefined>>): { issuer: string; claims: Claims };
  /** Claims that never name two repositories or owners, even after renaming or recreation (S100). */
  immutable: readonly string[];
  /** Claims that identify the run, for logs. */
  run: readonly string[];
}>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BRACED_UUID = /^\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?$/i;
const REF = /^refs\/[^\s~^:?*[\\]+$/;
const LINE = /^[^\p{Cc}]{1,255}$/u;
const NUMBER = /^[1-9]\d{0,18}$/;

const github: Preset = {
  label: "GitHub",
  fields: [
    {
      name: "repository",
      label: "Repository",
      hint: "Owner and name, spelled as GitHub spells them.",
      placeholder: "octo-org/octo-repo",
      isRequired: true,
      shape: /^[A-Za-z0-9-]{1,39}\/[\w.-]{1,100}$/,
      problem: "Enter the owner and the name with a slash between them, such as octo-org/octo-repo.",
    },
    {
      name: "ref",
      label: "Branch or tag",
      hint: "Only runs of this ref. Without it, those of every branch and tag.",
      placeholder: "refs/heads/main",
      isRequired: false,
      shape: REF,
      problem: "Enter the whole ref, such as refs/heads/main or refs/tags/v1.",
    },
    {
      name: "environment",
      label: "Environment",
      hint: "Only jobs of this deployment environment, which can ask for a review first.",
      placeholder: "release",
      isRequired: false,
      shape: LINE,
      problem: "Enter the environment's name as GitHub shows it.",
    },
    {
      name: "workflow",
      label: "Workflow file",
      hint: "Only this file of .github/workflows. Name the branch as well.",
      placeholder: "publish.yml",
      isRequired: false,
      shape: /^[\w. -]{1,100}\.ya?ml$/,
      problem: "Enter the name of the file alone, such as publish.yml.",
    },
    {
      name: "repositoryId",
      label: "Repository ID",
      hint: "The repository's number. Left empty, the first run that is let in is taken at its word and recorded.",
      placeholder: "74",
      isRequired: false,
      shape: NUMBER,
      problem: "Enter the number alone; GitHub's API has it as id.",
    },
    {
      name: "repositoryOwnerId",
      label: "Owner ID",
      hint: "The number of the account or organization. Recorded with the first run as well.",
      placeholder: "65",
      isRequired: false,
      shape: NUMBER,
      problem: "Enter the number alone; GitHub's API has it as owner.id.",
    },
  ],
  read({ repository = "", ref, environment, workflow, repositoryId, repositoryOwnerId }) {
    if (workflow && !ref) {
      const sentence = "Name the branch as well: GitHub's token has the workflow only together with it.";
      throw new ServiceError("invalid_request", sentence, { field: "ref" });
    }
    return {
      issuer: "https://token.actions.githubusercontent.com",
      claims: {
        repository,
        ...(ref && { ref }),
        ...(environment && { environment }),
        ...(workflow && { workflow_ref: `${repository}/.github/workflows/${workflow}@${ref}` }),
        ...(repositoryId && { repository_id: repositoryId }),
        ...(repositoryOwnerId && { repository_owner_id: repositoryOwnerId }),
      },
    };
  },
  immutable: ["repository_id", "repository_owner_id"],
  run: ["repository", "ref", "run_id"],
};

const gitlab: Preset = {
  label: "GitLab",
  fields: [
    {
      name: "gitlabUrl",
      label: "GitLab's address",
      hint: "For an installation of your own; otherwise leave it empty.",
      placeholder: "https://gitlab.com",
      isRequired: false,
      shape: /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      problem: "Enter an https address, such as https://gitlab.example.com.",
    },
    {
      name: "projectPath",
      label: "Project",
      hint: "Its whole path with all groups.",
      placeholder: "group/subgroup/project",
      isRequired: true,
      shape: /^[\w.-]+(\/[\w.-]+)+$/,
      problem: "Enter the whole path of the project, such as group/project.",
    },
    {
      name: "gitlabRef",
      label: "Branch or tag",
      hint: "Only pipelines of this branch or tag, without refs/heads.",
      placeholder: "main",
      isRequired: false,
      shape: LINE,
      problem: "Enter the name of a branch or tag.",
    },
    {
      name: "gitlabEnvironment",
      label: "Environment",
      hint: "Only jobs of this deployment environment.",
      placeholder: "production",
      isRequired: false,
      shape: LINE,
      problem: "Enter the environment's name as GitLab shows it.",
    },
    {
      name: "projectId",
      label: "Project ID",
      hint: "On the project's overview. Left empty, the first run that is let in is taken at its word and recorded.",
      placeholder: "20",
      isRequired: false,
      shape: NUMBER,
      problem: "Enter the number alone.",
    },
    {
      name: "namespaceId",
      label: "Group ID",
      hint: "On the group's overview. Recorded with the first run as well.",
      placeholder: "72",
      isRequired: false,
      shape: NUMBER,
      problem: "Enter the number alone.",
    },
  ],
  read({ gitlabUrl, projectPath = "", gitlabRef, gitlabEnvironment, projectId, namespaceId }) {
    return {
      issuer: (gitlabUrl ?? "https://gitlab.com").replace(/(?<!\/)\/+$/, ""),
      claims: {
        project_path: projectPath,
        ...(gitlabRef && { ref: gitlabRef }),
        ...(gitlabEnvironment && { environment: gitlabEnvironment }),
        ...(projectId && { project_id: projectId }),
        ...(namespaceId && { namespace_id: namespaceId }),
      },
    };
  },
  immutable: ["project_id", "namespace_id"],
  run: ["project_path", "ref", "job_id"],
};

const circleci: Preset = {
  label: "CircleCI",
  fields: [
    {
      name: "circleciOrgId",
      label: "Organization ID",
      hint: "In the organization's settings, under Overview.",
      placeholder: "3b7d2f3e-1c2a-4a5b-9d10-2bbf3c4d5e6f",
      isRequired: true,
      shape: UUID,
      problem: "Enter the id from CircleCI, such as 3b7d2f3e-1c2a-4a5b-9d10-2bbf3c4d5e6f.",
    },
    {
      name: "circleciProjectId",
      label: "Project ID",
      hint: "In the project's settings, under Overview.",
      placeholder: "6a1b2c3d-4e5f-6789-abcd-ef0123456789",
      isRequired: true,
      shape: UUID,
      problem: "Enter the id from CircleCI, such as 6a1b2c3d-4e5f-6789-abcd-ef0123456789.",
    },
    {
      name: "vcsRef",
      label: "Branch or tag",
      hint: "Only pipelines of this ref.",
      placeholder: "refs/heads/main",
      isRequired: false,
      shape: REF,
      problem: "Enter the whole ref, such as refs/heads/main.",
    },
  ],
  read({ circleciOrgId = "", circleciProjectId = "", vcsRef }) {
    return {
      issuer: `https://oidc.circleci.com/org/${circleciOrgId.toLowerCase()}`,
      claims: {
        "oidc.circleci.com/project-id": circleciProjectId.toLowerCase(),
        // A user who reruns a job with SSH has access to its machine while it runs.
        "oidc.circleci.com/ssh-rerun": "false",
        ...(vcsRef && { "oidc.circleci.com/vcs-ref": vcsRef }),
      },
    };
  },
  // The issuer contains the organization's id and the claim the project's: nothing is left that could be renamed.
  immutable: ["oidc.circleci.com/project-id"],
  run: ["oidc.circleci.com/project-id", "oidc.circleci.com/vcs-ref", "oidc.circleci.com/pipeline-id"],
};

const bitbucket: Preset = {
  label: "Bitbucket",
  fields: [
    {
      name: "workspace",
      label: "Workspace",
      hint: "As in the workspace's address.",
      placeholder: "octo-team",
      isRequired: true,
      shape: /^[\w-]{1,62}$/,
      problem: "Enter the workspace as its address has it, without slashes.",
    },
    {
      name: "repositoryUuid",
      label: "Repository UUID",
      hint: "In the repository's settings, under OpenID Connect.",
      placeholder: "{6a1b2c3d-4e5f-6789-abcd-ef0123456789}",
      isRequired: true,
      shape: BRACED_UUID,
      problem: "Enter the UUID from Bitbucket, such as {6a1b2c3d-4e5f-6789-abcd-ef0123456789}.",
    },
    {
      name: "branchName",
      label: "Branch",
      hint: "Only pipelines of this branch.",
      placeholder: "main",
      isRequired: false,
      shape: LINE,
      problem: "Enter the name of a branch.",
    },
    {
      name: "deploymentEnvironmentUuid",
      label: "Deployment environment UUID",
      hint: "Only steps that deploy to this environment.",
      placeholder: "{3b7d2f3e-1c2a-4a5b-9d10-2bbf3c4d5e6f}",
      isRequired: false,
      shape: BRACED_UUID,
      problem: "Enter the UUID from Bitbucket, with its braces.",
    },
  ],
  read({ workspace = "", repositoryUuid = "", branchName, deploymentEnvironmentUuid }) {
    return {
      issuer: `https://api.bitbucket.org/2.0/workspaces/${workspace}/pipelines-config/identity/oidc`,
      claims: {
        repositoryUuid: braced(repositoryUuid),
        ...(branchName && { branchName }),
        ...(deploymentEnvironmentUuid && { deploymentEnvironmentUuid: braced(deploymentEnvironmentUuid) }),
      },
    };
  },
  immutable: ["repositoryUuid", "workspaceUuid"],
  run: ["repositoryUuid", "branchName", "pipelineUuid"],
};

const braced = (uuid: string): string => `{${uuid.replace(/[{}]/g, "").toLowerCase()}}`;

const oidc: Preset = {
  label: "Another issuer",
  fields: [
    {
      name: "issuer",
      label: "Issuer",
      hint: "Exactly what its tokens have as iss. Its keys are found from there, by /.well-known/openid-configuration.",
      placeholder: "https://ci.example.com",
      isRequired: true,
      shape: /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      problem: "Enter an https address without a query, such as https://ci.example.com.",
    },
    {
      name: "claims",
      label: "Claims",
      hint: "One a line, name = value. All must be equal; at least one besides sub. Prefer numbers and ids that are never given again to names that can be.",
      placeholder: "project_id = 20\nref = refs/heads/main",
      isRequired: true,
      shape: /^[^\0]{1,4000}$/,
      problem: "Enter a claim a line, such as project_id = 20.",
    },
  ],
  read: ({ issuer = "", claims = "" }) => {
    if (isIssuerOfPreset(issuer)) {
      const sentence = "There is a form of its own for this issuer, which also knows its ids. Choose it above.";
      throw new ServiceError("invalid_request", sentence, { field: "issuer" });
    }
    return { issuer, claims: readClaimLines(claims) };
  },
  immutable: [],
  run: ["sub"],
};

export const presets: Readonly<Record<PresetName, Preset>> = { github, gitlab, circleci, bitbucket, oidc };

/** Claims that the protocol itself checks: as a condition they would either always be met or never. */
const PROTOCOL_CLAIMS = new Set(["iss", "aud", "exp", "nbf", "iat", "jti", "azp", "nonce"]);
const CLAIMS_MAX = 20;
const CLAIM_MAX_CHARACTERS = 500;

function readClaimLines(text: string): Claims {
  const refuse = (sentence: string) => new ServiceError("invalid_request", sentence, { field: "claims" });
  const claims = new Map<string, string>();
  for (const line of text.split(/\r?\n/).filter((one) => one.trim() !== "")) {
    const at = line.indexOf("=");
    const [name, value] = [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 1).trim()];
    if (!/^\S+$/.test(name) || value === "") throw refuse("Write each claim as name = value, one a line.");
    if (PROTOCOL_CLAIMS.has(name)) throw refuse(`${name} is checked anyway. Name claims that say which job it is.`);
    // As an object's property it would silently disappear, and the condition with it.
    if (name === "__proto__") throw refuse(`${name} cannot be a claim's name here.`);
    if (claims.has(name)) throw refuse(`${name} is there twice.`);
    if (name.length > 100 || value.length > CLAIM_MAX_CHARACTERS) throw refuse("A claim this long cannot be kept.");
    claims.set(name, value);
  }
  if (claims.size > CLAIMS_MAX) throw refuse(`Use at most ${CLAIMS_MAX} claims.`);
  // S98: a subject is composed of parts that may be renamed, by rules that the issuer's own users can often change.
  if (![...claims.keys()].some((name) => name !== "sub")) throw refuse("Name at least one claim besides sub.");
  return Object.fromEntries(claims);
}

function isIssuerOfPreset(issuer: string): boolean {
  return /^https:\/\/(token\.actions\.githubusercontent\.com|gitlab\.com|oidc\.circleci\.com|api\.bitbucket\.org)(\/|$)/i.test(
    issuer,
  );
}
