import { type RepoType, repoPath } from "@keyhook/sdk";
import type { PresetName } from "#core/accounts/publishers/presets.ts";
import { shellWord } from "../shell-word.ts";

/** The subject of a job's token: a repository to which the job writes, or a user whose gated repositories it reads. */
export type JobSubject = Readonly<
  { repo: Readonly<{ type: RepoType; fullName: string; defaultBranch: string }> } | { username: string }
>;

export function resourceOf(subject: JobSubject): string {
  return "repo" in subject ? repoPath(subject.repo.type, subject.repo.fullName).slice(1) : subject.username;
}

export function workflowOf(preset: PresetName, subject: JobSubject, origin: string): string {
  return workflows[preset](origin, (spaces) => indented(steps(subject, origin), spaces));
}

export const workflowFiles: Readonly<Record<PresetName, string>> = {
  github: ".github/workflows/publish.yml",
  gitlab: ".gitlab-ci.yml",
  circleci: ".circleci/config.yml",
  bitbucket: "bitbucket-pipelines.yml",
  oidc: "Shell script",
};

/** @param steps the exchange and one use, each line indented by that many spaces */
type Workflow = (origin: string, steps: (spaces: number) => string) => string;

const github: Workflow = (origin, steps) => `name: Publish
on:
  push:
    branches: [main]
permissions:
  contents: read
  id-token: write
jobs:
  publish:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - run: |
          ID_TOKEN=$(curl -sS --fail-with-body -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
            "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${encodeURIComponent(origin)}" | jq -er .value)
${steps(10)}
`;

const gitlab: Workflow = (origin, steps) => `publish:
  image: alpine:3
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
  variables:
    GIT_DEPTH: 0
  id_tokens:
    ID_TOKEN:
      aud: ${origin}
  before_script:
    - apk add --no-cache curl git jq
  script:
    - |
${steps(6)}
`;

const circleci: Workflow = (origin, steps) => `version: 2.1
jobs:
  publish:
    docker:
      - image: cimg/base:current
    steps:
      - checkout
      - run: |
          ID_TOKEN=$(circleci run oidc get --claims '{"aud": "${origin}"}')
${steps(10)}
workflows:
  publish:
    jobs:
      - publish:
          filters:
            branches:
              only: main
`;

const bitbucket: Workflow = (origin, steps) => `pipelines:
  branches:
    main:
      - step:
          image: alpine:3
          clone:
            depth: full
          oidc:
            audiences:
              - ${origin}
          script:
            - apk add --no-cache curl git jq
            - |
              ID_TOKEN=$BITBUCKET_STEP_OIDC_TOKEN
${steps(14)}
`;

const oidc: Workflow = (origin, steps) => `# ID_TOKEN is the job's own token, with the audience ${origin}
${steps(0)}
`;

const workflows: Readonly<Record<PresetName, Workflow>> = { github, gitlab, circleci, bitbucket, oidc };

function steps(subject: JobSubject, origin: string): string {
  return `TOKEN=$(curl -sS --fail-with-body ${origin}/oauth/token \\
  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\
  -d subject_token_type=urn:ietf:params:oauth:token-type:id_token \\
  -d resource=${resourceOf(subject)} \\
  --data-urlencode "subject_token=$ID_TOKEN" | jq -er .access_token)
${finalStep(subject, origin)}`;
}

function finalStep(subject: JobSubject, origin: string): string {
  if (!("repo" in subject)) {
    return `curl -sS --fail-with-body -L -O -H "Authorization: Bearer $TOKEN" \\
  ${origin}/<owner>/<repository>/resolve/main/<file>`;
  }
  const { protocol, host } = new URL(origin);
  const { type, fullName, defaultBranch } = subject.repo;
  return `git push "${protocol}//job:$TOKEN@${host}${repoPath(type, fullName)}" HEAD:${shellWord(defaultBranch)}`;
}

function indented(text: string, spaces: number): string {
  return text.replace(/^/gm, " ".repeat(spaces));
}
