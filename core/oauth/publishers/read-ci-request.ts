import { isRepoType, type RepoType, repoTypeOfSegment } from "@keyhook/sdk";
import { ACCESS_TOKEN_TYPE, ID_TOKEN_TYPE } from "../exchange/token-exchange.ts";
import { ProtocolError } from "../protocol-request.ts";

export type CiRequest = {
  /** A JWT, as it came. */
  subjectToken: string;
  /** What was asked for, as it came. */
  resource: string;
  /** What that names. */
  target: { repo: { type: RepoType; owner: string; name: string } } | { username: string };
};

const TOKEN_MAX_CHARACTERS = 16 * 1024;
const RESOURCE_MAX_CHARACTERS = 300;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const SCOPE = "gated-repos";

/**
 * Reads the parameters of a CI job's exchange (RFC 8693 §2.1, docs/specification/organizations-and-tokens.md#trusted-publishers).
 * @throws ProtocolError `invalid_request`, `invalid_scope`
 */
export function readCiRequest(form: URLSearchParams): CiRequest {
  const one = (name: string): string => {
    const values = form.getAll(name);
    if (values.length > 1) throw invalid(`${name} is there ${values.length} times`);
    return values[0] ?? "";
  };
  if (one("subject_token_type") === "") throw invalid(`subject_token_type is missing: send ${ID_TOKEN_TYPE}`);
  const subjectToken = one("subject_token");
  if (subjectToken === "") throw invalid("subject_token is missing: send the ID token of the job");
  if (subjectToken.length > TOKEN_MAX_CHARACTERS || !JWT.test(subjectToken)) throw invalid("subject_token is not a signed JWT");
  const requested = one("requested_token_type");
  if (requested !== "" && requested !== ACCESS_TOKEN_TYPE) throw invalid(`requested_token_type can only be ${ACCESS_TOKEN_TYPE}`);
  if (one("actor_token") !== "" || one("actor_token_type") !== "") {
    throw invalid("actor_token is not supported for a job: nobody acts for it");
  }
  const resource = one("resource");
  const target = readResource(resource);
  const scopes = one("scope").split(" ").filter(Boolean);
  if ("username" in target && scopes.some((scope) => scope !== SCOPE)) {
    throw new ProtocolError(400, "invalid_scope", `a token for reading as a user has the scope ${SCOPE} and no other`);
  }
  return { subjectToken, resource, target };
}

function readResource(resource: string): CiRequest["target"] {
  const shape = "send namespace/name, datasets/namespace/name, spaces/namespace/name or a user name";
  if (resource === "") throw invalid(`resource is missing: ${shape}`);
  if (resource.length > RESOURCE_MAX_CHARACTERS) throw invalid("resource is too long");
  const parts = resource.split("/");
  const [first = "", second = "", third = ""] = parts;
  // docs/specification/repositories-and-git.md#what-is-not-offered
  if (parts.length > 1 && (first === "kernels" || first === "buckets")) throw invalid(`there are no ${first} here: ${shape}`);
  if (parts.some((part) => !/^[\w.-]+$/.test(part))) throw invalid(`resource is not understood: ${shape}`);
  const type = repoTypeOfSegment(first);
  if (parts.length === 3 && type) return { repo: { type, owner: second, name: third } };
  if (parts.length === 2 && !type) return { repo: { type: "model", owner: first, name: second } };
  if (parts.length === 1 && !type && !isRepoType(first)) return { username: first };
  throw invalid(`resource is not understood: ${shape}`);
}

const invalid = (description: string): ProtocolError => new ProtocolError(400, "invalid_request", description);
