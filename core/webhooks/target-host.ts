/**
 * What deliveries share a host by: `host:port` of the target in lower case, empty for a job (`delivery_queue.host`).
 * @param url null for a webhook with a job
 */
export function targetHost(url: string | null): string {
  if (url === null) return "";
  const parsed = URL.parse(url);
  // It was checked when it was stored; if it ever is none, the attempt says so.
  if (!parsed) return "invalid:0";
  return `${parsed.hostname.toLowerCase()}:${parsed.port || (parsed.protocol === "http:" ? 80 : 443)}`;
}
