/**
 * What somebody else's answer may not say where it is shown on our origin: what a browser would apply to the whole of it, and what is
 * ours to say (docs/decisions/057-spaces.md, 063-the-relay.md).
 */
const ORIGIN_WIDE =
  /^(set-cookie2?|clear-site-data|service-worker-allowed|strict-transport-security|public-key-pins.*|expect-ct|nel|report-to|reporting-endpoints|alt-svc|origin-agent-cluster|www-authenticate|proxy-.*|access-control-.*|x-frame-options|referrer-policy|permissions-policy|feature-policy|content-security-policy-report-only|speculation-rules|supports-loading-mode|accept-ch|critical-ch|x-content-type-options|x-request-id|x-keyhook-.*|cross-origin-.*|sourcemap|x-sourcemap|link|set-login|use-as-dictionary|document-isolation-policy|(secure|sec)-session-.*|activate-storage-access|observe-browsing-topics|attribution-reporting-.*)$/;

/** @param name in lower case */
export const isOriginWide = (name: string): boolean => ORIGIN_WIDE.test(name);
