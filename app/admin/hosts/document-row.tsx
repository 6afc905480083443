import type { ListedClientDocument } from "#core/oauth/documents/hosts/list-client-documents.ts";
import { countOfUsers } from "../../_components/applications/app-list.tsx";
import { AppLogo } from "../../_components/applications/app-logo.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { Chip } from "../../_components/chip.tsx";
import { ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { blockHostPath } from "./hosts-path.ts";

export function DocumentRow({ document }: Readonly<{ document: ListedClientDocument }>) {
  const { clientId, host, hostname, name, firstSeenAt, lastSeenAt, changedAt, userCount, standing } = document;
  const isBlocked = standing.rule?.rule === "block";
  return (
    <ListRow
      leading={<AppLogo app={document} />}
      title={
        <>
          <bdi className="wrap-anywhere min-w-0">{host}</bdi>
          <Standing standing={standing} hostname={hostname} />
        </>
      }
      meta={
        <>
          <span className="block">
            calls itself <bdi className="wrap-anywhere text-ink">{name}</bdi> · {countOfUsers(userCount)}
          </span>
          first seen <RelativeTime at={firstSeenAt} /> · last <RelativeTime at={lastSeenAt} />
          {changedAt && (
            <>
              {" · changed "}
              <RelativeTime at={changedAt} />
            </>
          )}
          <code className="block break-all">{clientId}</code>
        </>
      }
      trailing={
        !isBlocked && (
          <ButtonLink href={blockHostPath(hostname)} size="small" variant="danger">
            Block host<span className="sr-only"> {hostname}</span>
          </ButtonLink>
        )
      }
    />
  );
}

/** Whether its apps are taken now, and what decides it where that is not the host's own rule. */
function Standing({ standing: { isAllowed, rule, policy }, hostname }: Pick<ListedClientDocument, "standing" | "hostname">) {
  const by = rule && rule.host !== hostname ? ` by the rule for ${rule.host}` : "";
  if (isAllowed) return rule ? <Chip tone="good">Allowed{by}</Chip> : null;
  if (policy === "off") return <Chip tone="warn">Refused: none is taken</Chip>;
  if (rule?.rule === "block") return <Chip tone="bad">Blocked{by}</Chip>;
  return <Chip tone="warn">Refused: not allowed</Chip>;
}
