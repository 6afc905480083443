import type { ConsentRequest } from "#core/oauth/consents/consent-request.ts";

/** The services beside this one at which the app will act for the person, when it asks for access to any (RFC 8707). */
export function ResourceList({ resources }: Readonly<{ resources: ConsentRequest["resources"] }>) {
  if (resources.length === 0) return null;
  return (
    <section className="border-line border-t px-6 pt-4 pb-4" aria-labelledby="resources-title">
      <h2 id="resources-title">It may act in your name at</h2>
      <ul className="mt-1 grid gap-1">
        {resources.map(({ identifier, name }) => (
          <li key={identifier} className="wrap-anywhere">
            <bdi className="font-medium">{name}</bdi>
            <span className="block text-muted text-small">{identifier}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
