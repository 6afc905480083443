import type { Page } from "@playwright/test";

/** Disables the scripts of one origin only. Other sites that a story visits need theirs. */
export async function withoutScriptsAt(page: Page, origin: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", ({ requestId, responseStatusCode, responseHeaders = [], responseErrorReason }) => {
    if (responseErrorReason) return void session.send("Fetch.failRequest", { requestId, errorReason: responseErrorReason });
    const policy = { name: "Content-Security-Policy", value: "script-src 'none'" };
    const isRedirect = String(responseStatusCode).startsWith("3");
    void session.send("Fetch.continueResponse", {
      requestId,
      ...(!isRedirect && { responseCode: responseStatusCode, responseHeaders: [...responseHeaders, policy] }),
    });
  });
  await session.send("Fetch.enable", {
    patterns: [{ urlPattern: `${origin}/*`, requestStage: "Response", resourceType: "Document" }],
  });
}
