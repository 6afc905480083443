/** Whether a client id is the address of a client ID metadata document; ids of our own never look like one (S85). */
export function isDocumentAddress(clientId: string): boolean {
  return clientId.startsWith("https://");
}

/** The name of the host that serves a document, without the port; empty for what is no address. */
export function hostnameOf(clientId: string): string {
  return URL.parse(clientId)?.hostname ?? "";
}
